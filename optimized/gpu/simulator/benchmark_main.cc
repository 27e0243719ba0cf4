// Measures the simulator's warp instructions per second, with and without checks: an
// element-wise kernel with vector access, and sums of blocks by shuffles and shared memory.
// Arguments: ELEMENTS (4096) SECONDS (1).
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "optimized/gpu/simulator/simulator.h"

namespace assay::gpu {
namespace {

constexpr const char* kKernels = R"(
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
@s = internal addrspace(3) global [8 x float] poison
define ptx_kernel void @elementwise(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %n = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %m = mul i32 %b, %n
  %g = add i32 %m, %t
  %i = shl i32 %g, 2
  %p = getelementptr inbounds float, ptr addrspace(1) %in, i32 %i
  %v = load <4 x float>, ptr addrspace(1) %p, align 16
  %a = fmul <4 x float> %v, <float 2.0, float 2.0, float 2.0, float 2.0>
  %c = fadd <4 x float> %a, <float 1.0, float 1.0, float 1.0, float 1.0>
  %d = call <4 x float> @llvm.fma.v4f32(<4 x float> %c, <4 x float> %v, <4 x float> %a)
  %e = fsub <4 x float> %d, %v
  %f = call <4 x float> @llvm.sqrt.v4f32(<4 x float> %e)
  %h = fmul <4 x float> %f, %f
  %k = call <4 x float> @llvm.maximum.v4f32(<4 x float> %h, <4 x float> %v)
  %q = getelementptr inbounds float, ptr addrspace(1) %out, i32 %i
  store <4 x float> %k, ptr addrspace(1) %q, align 16
  ret void
}
define ptx_kernel void @sums(ptr addrspace(1) %in, ptr addrspace(1) %out) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %m = mul i32 %b, 1024
  %g = add i32 %m, %t
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k2, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %sum2, %loop ]
  %o = mul i32 %k, 256
  %i = add i32 %g, %o
  %p = getelementptr inbounds float, ptr addrspace(1) %in, i32 %i
  %v = load float, ptr addrspace(1) %p
  %sum2 = fadd float %sum, %v
  %k2 = add i32 %k, 1
  %more = icmp ult i32 %k2, 4
  br i1 %more, label %loop, label %fold
fold:
  %s1 = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %sum2, i32 16, i32 31)
  %a1 = fadd float %sum2, %s1
  %s2 = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %a1, i32 8, i32 31)
  %a2 = fadd float %a1, %s2
  %s3 = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %a2, i32 4, i32 31)
  %a3 = fadd float %a2, %s3
  %s4 = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %a3, i32 2, i32 31)
  %a4 = fadd float %a3, %s4
  %s5 = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %a4, i32 1, i32 31)
  %a5 = fadd float %a4, %s5
  %lane = and i32 %t, 31
  %first = icmp eq i32 %lane, 0
  br i1 %first, label %put, label %meet
put:
  %w = lshr i32 %t, 5
  %sp = getelementptr inbounds float, ptr addrspace(3) @s, i32 %w
  store float %a5, ptr addrspace(3) %sp
  br label %meet
meet:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %few = icmp ult i32 %t, 8
  br i1 %few, label %last, label %end
last:
  %lp = getelementptr inbounds float, ptr addrspace(3) @s, i32 %t
  %l0 = load float, ptr addrspace(3) %lp
  %l1 = call float @llvm.nvvm.shfl.sync.down.f32(i32 255, float %l0, i32 4, i32 7)
  %l2 = fadd float %l0, %l1
  %l3 = call float @llvm.nvvm.shfl.sync.down.f32(i32 255, float %l2, i32 2, i32 7)
  %l4 = fadd float %l2, %l3
  %l5 = call float @llvm.nvvm.shfl.sync.down.f32(i32 255, float %l4, i32 1, i32 7)
  %l6 = fadd float %l4, %l5
  %zero = icmp eq i32 %t, 0
  br i1 %zero, label %write, label %end
write:
  %q = getelementptr inbounds float, ptr addrspace(1) %out, i32 %b
  store float %l6, ptr addrspace(1) %q
  br label %end
end:
  ret void
}
)";

// Seconds of this process alone: the machine may be busy.
double Seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void Measure(const DecodedKernel& kernel, uint32_t blocks, bool checks, size_t elements,
             double seconds) {
  DeviceMemory memory;
  const uint64_t in = *memory.Allocate(elements * 4, 16, "in");
  const uint64_t out = *memory.Allocate(elements * 4, 16, "out");
  std::vector<float> values(elements, 1.5f);
  (void)memory.CopyIn(in, std::as_bytes(std::span(values)));
  Simulator simulator({.checks = checks});
  const double start = Seconds();
  double spent = 0;
  while (spent < seconds) {
    const absl::Status status =
        simulator.Launch(kernel, {.grid = {blocks, 1, 1}, .block = {256, 1, 1}},
                         {KernelArgument::Buffer(in), KernelArgument::Buffer(out)}, memory);
    if (!status.ok()) {
      std::printf("%s\n", status.ToString().c_str());
      std::exit(1);
    }
    spent = Seconds() - start;
  }
  const Counters& counters = simulator.counters();
  std::printf(
      "%-12s checks %-3s %8zu elements: %7.1f million warp instructions/s, %.1f us/launch\n",
      kernel.name().c_str(), checks ? "on" : "off", elements,
      static_cast<double>(counters.warp_instructions) / spent / 1e6,
      spent / static_cast<double>(counters.launches) * 1e6);
}

void MeasureDecoding(const llvm::Function& function, bool texts, double seconds) {
  const double start = Seconds();
  int count = 0;
  while (Seconds() - start < seconds) {
    if (!Decode(function, {.instruction_texts = texts}).ok()) std::exit(1);
    ++count;
  }
  std::printf("%-12s decoded in %.0f us, texts %s\n", function.getName().str().c_str(),
              (Seconds() - start) / count * 1e6, texts ? "on" : "off");
}

int Main(int argc, char** argv) {
  const size_t elements = argc > 1 ? std::strtoull(argv[1], nullptr, 10) / 1024 * 1024 : 4096;
  const double seconds = argc > 2 ? std::strtod(argv[2], nullptr) : 1;
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  const auto module = llvm::parseAssemblyString(kKernels, diagnostic, context);
  if (module == nullptr || elements == 0) {
    std::printf("%s\n", diagnostic.getMessage().str().c_str());
    return 1;
  }
  for (const char* name : {"elementwise", "sums"}) {
    const auto kernel = Decode(*module->getFunction(name));
    if (!kernel.ok()) {
      std::printf("%s\n", kernel.status().ToString().c_str());
      return 1;
    }
    for (const bool texts : {false, true}) {
      MeasureDecoding(*module->getFunction(name), texts, seconds / 4);
    }
    const auto blocks = static_cast<uint32_t>(elements / 1024);
    for (const bool checks : {false, true}) Measure(**kernel, blocks, checks, elements, seconds);
  }
  return 0;
}

}  // namespace
}  // namespace assay::gpu

int main(int argc, char** argv) { return assay::gpu::Main(argc, argv); }
