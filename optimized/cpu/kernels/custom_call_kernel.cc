// Custom calls of LAPACK's routines: calls of the runtime.
#include "optimized/cpu/kernels/custom_call_kernel.h"

#include "optimized/cpu/kernels/custom_calls.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"

namespace assay {

using llvm::Value;

absl::Status EmitCustomCall(ArrayKernelContext& context) {
  const std::optional<LapackPlan> plan = LapackPlanOf(context.instruction);
  if (!plan.has_value()) {
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
  std::vector<Value*> operands;
  for (const std::vector<Value*>& leaves : context.operands) operands.push_back(leaves[0]);
  context.CallRuntime("assay_lapack", {PlanData(context.module, *plan), pointers(operands),
                                       pointers(context.results)});
  return absl::OkStatus();
}

}  // namespace assay
