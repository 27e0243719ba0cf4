// Random functions of LLVM IR, as the kernel of many threads with data of their own: what the
// simulator gives and what LLVM's code for the host gives, bit for bit. Since the threads' data
// differ, so do their ways.
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Support/raw_ostream.h"
#include "optimized/cpu/native/direct/random_functions.h"
#include "optimized/cpu/native/jit.h"
#include "optimized/gpu/simulator/simulator.h"

namespace assay::gpu {
namespace {

constexpr int kThreads = 45;  // a full warp, and one with lanes missing

// Bytes among which the edges of every type are frequent.
std::vector<uint8_t> RandomArguments(uint64_t seed) {
  std::mt19937_64 random(seed);
  constexpr uint64_t kEdges[] = {0,
                                 1,
                                 ~uint64_t{0},
                                 uint64_t{1} << 63,
                                 0x7FFFFFFFFFFFFFFF,
                                 0x7F8000007F800000,
                                 0xFF800000FF800000,
                                 0x7FC000017FC00001,
                                 0x8000000080000000,
                                 0x3F8000003F800000,
                                 0x7FF0000000000000,
                                 0x43E0000000000000,
                                 0x80FF7F01807F0100,
                                 0x41DFFFFFFFE00000};
  std::vector<uint8_t> bytes(direct::kArgumentBytes);
  for (int at = 0; at < direct::kArgumentBytes; at += 8) {
    const uint64_t word = random() % 2 == 0 ? kEdges[random() % std::size(kEdges)] : random();
    std::memcpy(&bytes[at], &word, 8);
  }
  return bytes;
}

// A kernel that calls the entry with its thread's table.
llvm::Function* AddKernel(llvm::Module& module) {
  llvm::IRBuilder<> ir(module.getContext());
  auto* type = llvm::FunctionType::get(ir.getVoidTy(), {ir.getPtrTy()}, false);
  auto* kernel = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "kernel", module);
  kernel->setCallingConv(llvm::CallingConv::PTX_Kernel);
  ir.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", kernel));
  llvm::Value* thread =
      ir.CreateIntrinsic(ir.getInt32Ty(), llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, {});
  llvm::Value* offset = ir.CreateMul(thread, ir.getInt32(16));
  llvm::Value* table = ir.CreateGEP(ir.getInt8Ty(), kernel->getArg(0), offset);
  ir.CreateCall(module.getFunction("assay_entry"), {table});
  ir.CreateRetVoid();
  return kernel;
}

class RandomKernelsTest : public testing::TestWithParam<int> {
 protected:
  // The bytes that each thread writes.
  std::vector<std::vector<uint8_t>> OnHost(uint64_t seed) {
    const auto jit = Jit::Get(Isa::kHost, Tier::kFast);
    EXPECT_TRUE(jit.ok()) << jit.status();
    llvm::LLVMContext context;
    std::unique_ptr<llvm::Module> module = (*jit)->NewModule(context, "random");
    direct::AddRandomEntry(*module, seed);
    const auto code = (*jit)->Compile(*module, "assay_entry", 1, false);
    EXPECT_TRUE(code.ok()) << code.status();
    std::vector<std::vector<uint8_t>> results;
    for (int thread = 0; thread < kThreads; ++thread) {
      std::vector<uint8_t> arguments = RandomArguments(seed * kThreads + thread);
      std::vector<uint8_t>& result = results.emplace_back(direct::kResultBytes);
      void* table[] = {arguments.data(), result.data()};
      (*code)->entry()(table);
    }
    return results;
  }
};

TEST_P(RandomKernelsTest, GiveTheBitsOfLlvm) {
  constexpr uint64_t kEach = 8;
  const auto jit = Jit::Get(Isa::kHost, Tier::kFast);
  ASSERT_TRUE(jit.ok()) << jit.status();
  for (uint64_t seed = GetParam() * kEach; seed < (GetParam() + 1) * kEach; ++seed) {
    const std::vector<std::vector<uint8_t>> expected = OnHost(seed);
    llvm::LLVMContext context;
    std::unique_ptr<llvm::Module> module = (*jit)->NewModule(context, "random");
    direct::AddRandomEntry(*module, seed);
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream, nullptr);
    const auto kernel = Decode(*AddKernel(*module), {});
    ASSERT_TRUE(kernel.ok()) << "seed " << seed << ": " << kernel.status();
    DeviceMemory memory;
    std::vector<uint64_t> table;
    std::vector<uint8_t> empty(direct::kResultBytes);
    for (int thread = 0; thread < kThreads; ++thread) {
      table.push_back(*memory.Allocate(direct::kArgumentBytes, 1, "arguments"));
      const std::vector<uint8_t> bytes = RandomArguments(seed * kThreads + thread);
      ASSERT_TRUE(memory.CopyIn(table.back(), std::as_bytes(std::span(bytes))).ok());
      table.push_back(*memory.Allocate(direct::kResultBytes, 1, "results"));
      ASSERT_TRUE(memory.CopyIn(table.back(), std::as_bytes(std::span(empty))).ok());
    }
    const uint64_t tables = *memory.Allocate(table.size() * 8, 8, "tables");
    ASSERT_TRUE(memory.CopyIn(tables, std::as_bytes(std::span(table))).ok());
    Simulator simulator({.seed = seed});
    const absl::Status status = simulator.Launch(**kernel, {.block = {kThreads, 1, 1}},
                                                 {KernelArgument::Buffer(tables)}, memory);
    ASSERT_TRUE(status.ok()) << "seed " << seed << ": " << status << "\n" << text;
    for (int thread = 0; thread < kThreads; ++thread) {
      std::vector<uint8_t> result(direct::kResultBytes);
      ASSERT_TRUE(
          memory
              .CopyOut(table[2 * thread + 1],
                       absl::MakeSpan(reinterpret_cast<std::byte*>(result.data()), result.size()))
              .ok());
      const auto at = std::mismatch(result.begin(), result.end(), expected[thread].begin()).first;
      ASSERT_TRUE(at == result.end())
          << "seed " << seed << ", thread " << thread << ", byte " << at - result.begin() << "\n"
          << text;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomKernelsTest, testing::Range(0, 8));

}  // namespace
}  // namespace assay::gpu
