// Custom calls of LAPACK's routines: calls of the runtime.
#include "optimized/cpu/kernels/custom_call_kernel.h"

#include "optimized/cpu/kernels/custom_calls.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"

namespace assay {

using llvm::Value;

absl::Status EmitCustomCall(ArrayKernelContext& context) {
  std::optional<LapackCall> call = LapackCallOf(context.instruction);
  if (!call.has_value()) {
    return MakeError(ErrorClass::kUnsupported,
                     StrCat("cpu: no code for ", context.instruction.ToString()));
  }
  llvm::IRBuilder<>& ir = context.ir();
  const auto pointers = [&](const std::vector<Value*>& arrays) {
    llvm::Type* type = llvm::ArrayType::get(ir.getPtrTy(), arrays.size());
    Value* table = ir.CreateAlloca(type);
    for (size_t k = 0; k < arrays.size(); ++k) {
      ir.CreateStore(arrays[k], ir.CreateConstInBoundsGEP2_64(type, table, 0, k));
    }
    return table;
  };
  std::vector<Value*> operands, results;
  for (size_t k = call->first_operand; k < context.operands.size(); ++k)
    operands.push_back(context.operands[k][0]);
  if (call->factor.has_value()) operands.push_back(context.operands[*call->factor][0]);
  for (int64_t k : call->results) results.push_back(context.results[k]);
  for (int64_t k : call->cleared) {
    const int64_t bytes = context.instruction.shape().elements()[k].ByteSize();
    ir.CreateMemSet(context.results[k], ir.getInt8(0), ir.getInt64(bytes), llvm::MaybeAlign());
  }
  const KernelBends& bends = context.elements.builder().bends();
  LapackPlan& plan = call->plan;
  const auto ask = [&](const char* claim, LapackForm bit) {
    if (bends.Holds(claim, &context.instruction, (plan.form & bit) != 0)) plan.form |= bit;
  };
  ask("optimize-kernel/lapack-lower", kLapackLower);
  ask("optimize-kernel/lapack-transposed", kLapackTransposed);
  ask("optimize-kernel/lapack-unit-diagonal", kLapackUnitDiagonal);
  ask("optimize-kernel/lapack-conjugated", kLapackConjugated);
  ask("optimize-kernel/lapack-values-only", kLapackValuesOnly);
  plan.matrices =
      bends.Number("optimize-kernel/lapack-matrices", &context.instruction, plan.matrices);
  plan.reflectors =
      bends.Number("optimize-kernel/lapack-reflectors", &context.instruction, plan.reflectors);
  plan.isa = static_cast<int64_t>(context.isa());
  context.CallRuntime("assay_lapack", {context.RunContextOf(), PlanData(context.module, plan),
                                       pointers(operands), pointers(results)});
  return absl::OkStatus();
}

}  // namespace assay
