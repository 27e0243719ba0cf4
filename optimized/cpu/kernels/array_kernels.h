// Ops whose result is made as a whole, not element by element: each has a kernel of its own, which
// runs as one task and is never fused.
#pragma once

#include "absl/status/status.h"
#include "llvm/IR/Module.h"
#include "optimized/codegen/buffer_address.h"
#include "optimized/codegen/element_emitter.h"
#include "optimized/plan/kernel_plan.h"
#include "optimized/runtime/kernels/micro_kernels.h"

namespace assay {

// The instruction set that the runtime's kernels are to use for code of these vectors.
KernelIsa IsaFor(const ElementEmitter& elements);
llvm::Value* PlanWords(llvm::Module& module, llvm::ArrayRef<uint64_t> words);

struct ArrayKernelContext {
  llvm::Module& module;
  const KernelPlan& plan;
  ElementEmitter& elements;  // operands are its sources
  const Instruction& instruction;
  const KernelBuffers& buffers;
  llvm::Function* function;
  std::vector<std::vector<llvm::Value*>> operands;  // pointers by leaf; row-major arrays
  std::vector<llvm::Value*> results;                // by leaf

  llvm::IRBuilder<>& ir() const { return elements.builder().ir(); }
  // A function of the runtime that returns nothing.
  void CallRuntime(const char* name, llvm::ArrayRef<llvm::Value*> arguments) const;
  // The RunContext of the run.
  llvm::Value* RunContextOf() const;
  KernelIsa isa() const { return IsaFor(elements); }
};

// A struct of 64-bit integers as constant data of the module.
template <typename Plan>
llvm::Value* PlanData(llvm::Module& module, const Plan& plan) {
  static_assert(std::is_trivially_copyable_v<Plan> && sizeof(Plan) % sizeof(uint64_t) == 0);
  return PlanWords(module,
                   {reinterpret_cast<const uint64_t*>(&plan), sizeof(Plan) / sizeof(uint64_t)});
}

using ArrayKernelFn = absl::Status (*)(ArrayKernelContext& context);
// nullptr for every other op.
ArrayKernelFn FindArrayKernel(Opcode opcode);
// The function of the runtime that the kernel calls, without the element type in its name; empty:
// emitted code does the work.
std::string RuntimeCallOf(const Instruction& instruction, bool is_better);

// True if the comparison is one of keys.
bool SortsByKey(const Instruction& sort, const Target& target);

absl::Status EmitScatter(ArrayKernelContext& context);
absl::Status EmitSelectAndScatter(ArrayKernelContext& context);
absl::Status EmitSort(ArrayKernelContext& context);
absl::Status EmitTopK(ArrayKernelContext& context);
absl::Status EmitRngBitGenerator(ArrayKernelContext& context);
absl::Status EmitRngGetAndUpdateState(ArrayKernelContext& context);
absl::Status EmitFft(ArrayKernelContext& context);
absl::Status EmitCholesky(ArrayKernelContext& context);
absl::Status EmitTriangularSolve(ArrayKernelContext& context);
absl::Status EmitCollective(ArrayKernelContext& context);
absl::Status EmitInfeed(ArrayKernelContext& context);
absl::Status EmitOutfeed(ArrayKernelContext& context);
absl::Status EmitDeviceId(ArrayKernelContext& context);

}  // namespace assay
