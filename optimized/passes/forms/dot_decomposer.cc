// Transposes and reshapes around a dot.
#include "optimized/passes/forms/dot_decomposer.h"

#include <vector>

#include "optimized/passes/util/dot_dimensions.h"
#include "optimized/passes/util/module_util.h"
#include "optimized/passes/util/rule_util.h"

namespace assay {
namespace {

bool IsPlainDot(const Instruction& inst) {
  return inst.opcode() == Opcode::kDot && IsPlain(inst) && inst.operand_count() == 2 &&
         !inst.attributes().Has(Attr::kSparsityConfig) && inst.shape().layout().IsRowMajor() &&
         inst.shape().layout().extras() == nullptr;
}

// In the order in which `side` has them: batch, free and summed on the left, batch, summed and free
// on the right.
DimVector OrderOf(const DotDimensions& dimensions, int64_t side) {
  DimVector order = dimensions.batch;
  const DimVector& second = side == 0 ? dimensions.free : dimensions.summed;
  const DimVector& third = side == 0 ? dimensions.summed : dimensions.free;
  order.insert(order.end(), second.begin(), second.end());
  order.insert(order.end(), third.begin(), third.end());
  return order;
}

bool IsCanonical(const Instruction& dot) {
  for (int64_t side : {0, 1}) {
    const DotDimensions dimensions = DotDimensions::Of(dot, side);
    const DimVector order = OrderOf(dimensions, side);
    if (!absl::c_is_sorted(order) || dimensions.summed.size() != 1 || dimensions.free.size() > 1)
      return false;
  }
  return true;
}

int64_t Product(const Instruction& inst, const DimVector& dimensions) {
  int64_t product = 1;
  for (int64_t d : dimensions) product *= inst.shape().dimension(d);
  return product;
}

// The operand as [batch..., m, k] on the left or [batch..., k, n] on the right.
Instruction* Canonical(Instruction* operand, const DotDimensions& dimensions, int64_t side) {
  Computation* computation = operand->parent();
  const ElementType type = operand->shape().element_type();
  const DimVector order = OrderOf(dimensions, side);
  DimVector transposed, sizes;
  for (int64_t d : order) transposed.push_back(operand->shape().dimension(d));
  for (int64_t d : dimensions.batch) sizes.push_back(operand->shape().dimension(d));
  const int64_t free = Product(*operand, dimensions.free),
                summed = Product(*operand, dimensions.summed);
  sizes.push_back(side == 0 ? free : summed);
  sizes.push_back(side == 0 ? summed : free);
  if (!absl::c_is_sorted(order)) {
    operand = computation->Add(Opcode::kTranspose, Shape::Array(type, transposed), {operand},
                               DimensionsAttr(order));
  }
  if (sizes == transposed) return operand;
  return computation->Add(Opcode::kReshape, Shape::Array(type, sizes), {operand});
}

Instruction* Decompose(Instruction* dot) {
  const DotDimensions left = DotDimensions::Of(*dot, 0), right = DotDimensions::Of(*dot, 1);
  Instruction* lhs = Canonical(dot->operand(0), left, 0);
  Instruction* rhs = Canonical(dot->operand(1), right, 1);
  const auto batches = static_cast<int64_t>(left.batch.size());
  DimVector batch, sizes;
  for (int64_t d = 0; d < batches; ++d) {
    batch.push_back(d);
    sizes.push_back(lhs->shape().dimension(d));
  }
  sizes.push_back(lhs->shape().dimension(batches));
  sizes.push_back(rhs->shape().dimension(batches + 1));
  Attributes attributes = dot->attributes();
  if (batches > 0) attributes.Set(Attr::kLhsBatchDims, batch).Set(Attr::kRhsBatchDims, batch);
  attributes.Set(Attr::kLhsContractingDims, {batches + 1})
      .Set(Attr::kRhsContractingDims, {batches});
  const Shape shape = Shape::Array(dot->shape().element_type(), sizes);
  Instruction* canonical = dot->parent()->Add(Opcode::kDot, shape, {lhs, rhs}, attributes);
  if (shape.dimensions() == dot->shape().dimensions()) return canonical;
  return dot->parent()->Add(Opcode::kReshape, dot->shape(), {canonical});
}

}  // namespace

absl::StatusOr<bool> DotDecomposer::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kDot})) return false;
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (!IsPlainDot(*inst) || IsCanonical(*inst)) continue;
      Rewrite rewrite(context.gates, "decompose-dot", inst);
      if (rewrite) changed |= rewrite.Replace(Decompose(inst));
    }
  }
  return changed;
}

}  // namespace assay
