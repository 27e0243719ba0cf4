// Rebuilds a reduce on other operands and dimensions.
#include "optimized/passes/util/reduction_util.h"

#include <algorithm>
#include <vector>

#include "optimized/passes/util/while_util.h"

namespace assay {
namespace {

bool IsOrderedArray(const Shape& shape) {
  return shape.IsArray() && !shape.HasDynamicDimension() && shape.layout().extras() == nullptr;
}

}  // namespace

bool IsPlainReduce(const Instruction& inst) {
  if (inst.opcode() != Opcode::kReduce || !inst.control_predecessors().empty() ||
      !inst.control_successors().empty()) {
    return false;
  }
  const absl::Span<const Shape> results = ReduceResults(inst);
  return std::all_of(results.begin(), results.end(), IsOrderedArray) &&
         std::all_of(inst.operands().begin(), inst.operands().end(),
                     [](const Instruction* operand) { return IsOrderedArray(operand->shape()); });
}

absl::Span<Instruction* const> ReducedOperands(const Instruction& reduce) {
  return reduce.operands().subspan(0, reduce.operands().size() / 2);
}

bool IsReduced(const Instruction& reduce, int64_t dimension) {
  const absl::Span<const int64_t> dimensions = reduce.attributes().Integers(Attr::kDimensions);
  return std::find(dimensions.begin(), dimensions.end(), dimension) != dimensions.end();
}

Instruction* AddBitcast(Instruction* inst, const Shape& shape) {
  if (inst->shape() == shape) return inst;
  return inst->parent()->Add(Opcode::kBitcast, shape, {inst});
}

absl::Span<const Shape> ReduceResults(const Instruction& reduce) {
  if (reduce.shape().IsTuple()) return reduce.shape().elements();
  return {&reduce.shape(), 1};
}

bool ReplaceReduce(Rewrite& rewrite, Instruction* reduce, absl::Span<Instruction* const> data,
                   absl::Span<const int64_t> dimensions, absl::Span<const Shape> results) {
  Computation* computation = reduce->parent();
  std::vector<Instruction*> operands(data.begin(), data.end());
  const auto initial = reduce->operands().subspan(data.size());
  operands.insert(operands.end(), initial.begin(), initial.end());
  const bool is_tuple = reduce->shape().IsTuple();
  const Shape shape =
      is_tuple ? Shape::Tuple(std::vector<Shape>(results.begin(), results.end())) : results[0];
  Attributes attributes = reduce->attributes();
  attributes.Set(Attr::kDimensions, dimensions);
  Instruction* with =
      computation->Add(Opcode::kReduce, shape, operands, attributes, reduce->callees());
  if (!is_tuple) return rewrite.Replace(AddBitcast(with, reduce->shape()));
  if (with->shape() == reduce->shape()) return rewrite.Replace(with);
  std::vector<Instruction*> elements;
  for (size_t i = 0; i < results.size(); ++i) {
    elements.push_back(AddBitcast(AddElement(computation, with, static_cast<int64_t>(i)),
                                  reduce->shape().elements()[i]));
  }
  return rewrite.Replace(computation->Add(Opcode::kTuple, reduce->shape(), elements));
}

}  // namespace assay
