// Replaces instructions on constants by the value that the evaluator gives.
#include "optimized/passes/rules/constant_folding.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "optimized/analysis/evaluator.h"
#include "optimized/passes/util/module_util.h"
#include "optimized/passes/util/rule_util.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

constexpr int64_t kMaxElements = 4096;          // of one folded result
constexpr int64_t kMaxTotalElements = 1 << 20;  // of all results of one run

class Folder {
 public:
  Folder(Computation* computation, Gates& gates, int64_t& budget)
      : computation_(computation), gates_(gates), budget_(budget) {}

  bool Run() {
    bool changed = false;
    for (Instruction* inst : computation_->InPostOrder()) changed |= FoldSplat(inst) || Fold(inst);
    return changed;
  }

 private:
  bool IsCandidate(const Instruction& inst) const {
    return inst.operand_count() > 0 && IsPlain(inst) && CanEvaluate(inst);
  }

  // One value everywhere stays a broadcast of a scalar: smaller, and rules see it.
  bool FoldSplat(Instruction* inst) {
    if (!IsCandidate(*inst) || !Info(inst->opcode()).Is(kElementwise) ||
        inst->shape().rank() == 0) {
      return false;
    }
    std::vector<Literal> values;
    for (Instruction* operand : inst->operands()) {
      const Literal* element = SplatElement(operand);
      if (element == nullptr) return false;
      Literal scalar(Shape::Scalar(element->element_type()));
      std::copy_n(element->bytes().begin(), scalar.bytes().size(), scalar.bytes().begin());
      values.push_back(std::move(scalar));
    }
    Rewrite rewrite(gates_, "constant-folding", inst);
    if (!rewrite) return false;
    std::vector<const Literal*> operands;
    for (const Literal& value : values) operands.push_back(&value);
    const Shape type = Shape::Scalar(inst->shape().element_type());
    Instruction* scalar =
        computation_->AddConstant(gates_.Folded(*inst, operands, Evaluate(*inst, operands, type)));
    return rewrite.Replace(AddSplat(computation_, inst->shape(), scalar));
  }

  bool Fold(Instruction* inst) {
    if (!IsCandidate(*inst)) return false;
    const int64_t size = inst->shape().ElementCount();
    // A broadcast of a scalar is as constant as can be.
    const bool is_splat =
        inst->opcode() == Opcode::kBroadcast && inst->operand(0)->shape().rank() == 0;
    if (is_splat || size > kMaxElements || size > budget_) return false;
    std::vector<std::shared_ptr<const Literal>> held;
    std::vector<const Literal*> operands;
    for (Instruction* operand : inst->operands()) {
      held.push_back(Value(operand));
      if (held.back() == nullptr) return false;
      operands.push_back(held.back().get());
    }
    Rewrite rewrite(gates_, "constant-folding", inst);
    if (!rewrite) return false;
    budget_ -= size;
    return rewrite.Replace(computation_->AddConstant(
        gates_.Folded(*inst, operands, Evaluate(*inst, operands, inst->shape()))));
  }

  // The value of a constant, or of a broadcast constant of modest size.
  static std::shared_ptr<const Literal> Value(const Instruction* operand) {
    if (operand->opcode() == Opcode::kConstant) return operand->shared_literal();
    if (operand->opcode() != Opcode::kBroadcast || ConstantValue(operand->operand(0)) == nullptr ||
        operand->shape().ElementCount() > kMaxElements) {
      return nullptr;
    }
    const Literal* source = operand->operand(0)->literal();
    return std::make_shared<Literal>(Evaluate(*operand, {&source, 1}, operand->shape()));
  }

  Computation* computation_;
  Gates& gates_;
  int64_t& budget_;
};

}  // namespace

absl::StatusOr<bool> ConstantFolding::Run(Module& module, PassContext& context) {
  int64_t budget = kMaxTotalElements;
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    changed |= Folder(computation, context.gates, budget).Run();
  }
  return changed;
}

}  // namespace assay
