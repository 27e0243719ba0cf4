// Random functions of LLVM IR: what LLVM's code gives and what ours gives, bit for bit.
#include "optimized/cpu/native/direct/direct_code.h"

#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "optimized/cpu/native/direct/random_functions.h"
#include "optimized/cpu/native/jit.h"
#include "spec/base/strings.h"

namespace assay::direct {
namespace {

// Bytes among which the edges of every type are frequent.
std::vector<uint8_t> Arguments(uint64_t seed) {
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
                                 0x3FF0000000000000,
                                 0x43E0000000000000,
                                 0x80FF7F01807F0100,
                                 0x3F0000004B800001,
                                 0x41DFFFFFFFE00000};
  std::vector<uint8_t> bytes(kArgumentBytes);
  for (int at = 0; at < kArgumentBytes; at += 8) {
    const uint64_t word = random() % 2 == 0 ? kEdges[random() % std::size(kEdges)] : random();
    std::memcpy(&bytes[at], &word, 8);
  }
  return bytes;
}

std::vector<uint8_t> ResultOf(Jit& jit, uint64_t seed, bool may_be_direct, std::string& text) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = jit.NewModule(context, "random");
  AddRandomEntry(*module, seed);
  llvm::raw_string_ostream stream(text);
  module->print(stream, nullptr);
  std::string why;
  if (may_be_direct && Translate(*module, "assay_entry", why) == nullptr) {
    ADD_FAILURE() << "refused: " << why << "\n" << text;
  }
  const auto code = jit.Compile(*module, "assay_entry", 1, may_be_direct);
  if (!code.ok()) {
    ADD_FAILURE() << code.status();
    return {};
  }
  std::vector<uint8_t> result(kResultBytes);
  for (uint64_t input = 0; input < 4; ++input) {
    std::vector<uint8_t> arguments = Arguments(seed * 4 + input);
    std::vector<uint8_t> one(kResultBytes);
    void* table[] = {arguments.data(), one.data()};
    (*code)->entry()(table);
    for (int at = 0; at < kResultBytes; ++at) {
      result[at] = static_cast<uint8_t>(result[at] * 31 + one[at]);
    }
  }
  return result;
}

class DirectCodeTest : public testing::TestWithParam<int> {};

TEST_P(DirectCodeTest, GivesTheBitsOfLlvm) {
  if (!CanTranslate()) GTEST_SKIP() << "this machine lacks the instructions";
  const auto jit = Jit::Get(Isa::kHost, Tier::kFast);
  ASSERT_TRUE(jit.ok()) << jit.status();
  constexpr uint64_t kEach = 50;
  for (uint64_t seed = GetParam() * kEach; seed < (GetParam() + 1) * kEach; ++seed) {
    std::string text;
    const std::vector<uint8_t> expected = ResultOf(**jit, seed, false, text);
    text.clear();
    const std::vector<uint8_t> direct = ResultOf(**jit, seed, true, text);
    ASSERT_EQ(expected.size(), direct.size());
    const auto at = std::mismatch(expected.begin(), expected.end(), direct.begin()).first;
    ASSERT_TRUE(at == expected.end())
        << "seed " << seed << ", byte " << at - expected.begin() << "\n"
        << text;
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, DirectCodeTest, testing::Range(0, 12));

// A function that does `write` to the number at table[0]. LLVM's way is taken, for the module.
template <typename F>
int64_t NumberAfter(const F& write) {
  const auto jit = Jit::Get(Isa::kHost, Tier::kFast);
  EXPECT_TRUE(jit.ok()) << jit.status();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = (*jit)->NewModule(context, "unknown");
  llvm::IRBuilder<> ir(context);
  auto* type = llvm::FunctionType::get(ir.getVoidTy(), {ir.getPtrTy()}, false);
  auto* entry =
      llvm::Function::Create(type, llvm::Function::ExternalLinkage, "assay_entry", *module);
  ir.SetInsertPoint(llvm::BasicBlock::Create(context, "", entry));
  write(ir, ir.CreateLoad(ir.getPtrTy(), entry->getArg(0)));
  ir.CreateRetVoid();
  const auto code = (*jit)->Compile(*module, "assay_entry", 1, true);
  EXPECT_TRUE(code.ok()) << code.status();
  EXPECT_FALSE((*code)->is_direct());
  int64_t numbers[2] = {4, 0};
  void* table[] = {&numbers};
  (*code)->entry()(table);
  return numbers[0];
}

TEST(DirectCode, LeavesTheUnknownToLlvm) {
  EXPECT_EQ(NumberAfter([](llvm::IRBuilder<>& ir, llvm::Value* place) {
              ir.CreateAtomicRMW(llvm::AtomicRMWInst::Add, place, ir.getInt64(3),
                                 llvm::MaybeAlign(), llvm::AtomicOrdering::Monotonic);
            }),
            7);
  EXPECT_EQ(NumberAfter([](llvm::IRBuilder<>& ir, llvm::Value* place) {
              llvm::Type* wide = ir.getInt128Ty();
              llvm::Value* number = ir.CreateLoad(wide, place);
              ir.CreateStore(ir.CreateAdd(number, number), place);
            }),
            8);
}

// Values that blocks hand on are looked at before all others: one of a type that is not known is
// no harm.
TEST(DirectCode, LeavesUnknownTypesOfPhisToLlvm) {
  EXPECT_EQ(NumberAfter([](llvm::IRBuilder<>& ir, llvm::Value* place) {
              llvm::Function* function = ir.GetInsertBlock()->getParent();
              llvm::BasicBlock* before = ir.GetInsertBlock();
              auto* next = llvm::BasicBlock::Create(ir.getContext(), "", function);
              llvm::Type* wide = llvm::FixedVectorType::get(ir.getInt8Ty(), 4096);
              ir.CreateBr(next);
              ir.SetInsertPoint(next);
              llvm::PHINode* phi = ir.CreatePHI(wide, 1);
              phi->addIncoming(
                  llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(4096), ir.getInt8(9)),
                  before);
              llvm::Value* lane = ir.CreateExtractElement(phi, uint64_t{5});
              ir.CreateStore(ir.CreateZExt(lane, ir.getInt64Ty()), place);
            }),
            9);
}

}  // namespace
}  // namespace assay::direct
