// Sorts values with their places along the last dimension, and cuts.
#include "optimized/passes/fallbacks/top_k_decomposer.h"

#include <vector>

#include "optimized/passes/util/rule_util.h"
#include "optimized/passes/util/while_util.h"

namespace assay {
namespace {

// Floats by their total order, in which NaNs have places, too.
Computation* OrderOf(Module* module, ElementType type, bool largest) {
  Computation* order = module->AddComputation("order");
  std::vector<Instruction*> parameters;
  for (ElementType each : {type, type, ElementType::kS32, ElementType::kS32}) {
    parameters.push_back(
        order->AddParameter(static_cast<int64_t>(parameters.size()), Shape::Scalar(each)));
  }
  Attributes attributes;
  attributes.Set(Attr::kDirection, largest ? Direction::kGt : Direction::kLt);
  if (IsFloat(type)) attributes.Set(Attr::kCompareType, CompareType::kTotalOrder);
  order->set_root(order->Add(Opcode::kCompare, Shape::Scalar(ElementType::kPred),
                             {parameters[0], parameters[1]}, attributes));
  return order;
}

}  // namespace

bool TopKDecomposer::Matches(const Instruction& inst) const {
  return inst.operand(0)->shape().ElementCount() > 0 &&
         inst.shape().elements()[1].element_type() == ElementType::kS32;
}

Instruction* TopKDecomposer::Expand(Instruction* inst) const {
  Computation* into = inst->parent();
  Instruction* values = inst->operand(0);
  const Shape& shape = values->shape();
  const int64_t last = shape.rank() - 1;
  const Shape places = Shape::Array(ElementType::kS32, shape.dimensions());
  Instruction* place =
      into->Add(Opcode::kIota, places, {}, Attributes().Set(Attr::kIotaDimension, AttrValue(last)));
  Computation* order =
      OrderOf(into->parent(), shape.element_type(), inst->attributes().Flag(Attr::kLargest, true));
  Attributes attributes;
  attributes.Set(Attr::kDimension, {last});
  if (inst->attributes().Flag(Attr::kIsStable, true)) {
    attributes.Set(Attr::kIsStable, AttrValue(true));
  }
  Instruction* sorted = into->Add(Opcode::kSort, Shape::Tuple({shape, places}), {values, place},
                                  attributes, {&order, 1});
  std::vector<SliceRange> ranges;
  for (int64_t size : inst->shape().elements()[0].dimensions()) ranges.push_back({0, size, 1});
  std::vector<Instruction*> results;
  for (int64_t k = 0; k < 2; ++k) {
    results.push_back(into->Add(Opcode::kSlice, inst->shape().elements()[k],
                                {AddElement(into, sorted, k)}, SliceAttr(ranges)));
  }
  return into->Add(Opcode::kTuple, inst->shape(), results);
}

}  // namespace assay
