// Sorts the places, too.
#include "optimized/passes/fallbacks/stable_sort_expander.h"

#include <limits>
#include <vector>

#include "optimized/passes/util/while_util.h"

namespace assay {
namespace {

// A copy of the comparator by which the earlier place is less where both orders compare the same.
Computation* WithPlaces(const Computation& comparator, ElementType place) {
  Computation* copy = comparator.parent()->AddComputation(comparator.name());
  std::vector<Instruction*> forward, backward;
  for (const Instruction* parameter : comparator.parameters())
    forward.push_back(copy->AddParameter(parameter->parameter_number(), parameter->shape()));
  for (size_t k = 0; k < forward.size(); ++k) backward.push_back(forward[k ^ 1]);
  const auto count = static_cast<int64_t>(forward.size());
  Instruction* left = copy->AddParameter(count, Shape::Scalar(place));
  Instruction* right = copy->AddParameter(count + 1, Shape::Scalar(place));
  Instruction* less = copy->CopyFrom(comparator, forward);
  Instruction* greater = copy->CopyFrom(comparator, backward);
  const Shape pred = Shape::Scalar(ElementType::kPred);
  const auto compare = [&](Instruction* a, Instruction* b, Direction direction) {
    return copy->Add(Opcode::kCompare, pred, {a, b}, Attributes().Set(Attr::kDirection, direction));
  };
  Instruction* tie = compare(less, greater, Direction::kEq);
  Instruction* earlier = compare(left, right, Direction::kLt);
  copy->set_root(copy->Add(Opcode::kSelect, pred, {tie, earlier, less}));
  return copy;
}

}  // namespace

bool StableSortExpander::Matches(const Instruction& inst) const {
  return inst.attributes().Flag(Attr::kIsStable) && inst.operand(0)->shape().ElementCount() > 0;
}

Instruction* StableSortExpander::Expand(Instruction* sort) const {
  Computation* computation = sort->parent();
  const Shape& keys = sort->operand(0)->shape();
  const int64_t dimension = sort->attributes().Integers(Attr::kDimension)[0];
  const ElementType place = keys.dimension(dimension) <= std::numeric_limits<int32_t>::max()
                                ? ElementType::kS32
                                : ElementType::kS64;
  const Shape places = Shape::Array(place, keys.dimensions());
  std::vector<Instruction*> operands(sort->operands().begin(), sort->operands().end());
  std::vector<Shape> shapes;
  for (const Instruction* operand : operands) shapes.push_back(operand->shape());
  operands.push_back(computation->Add(Opcode::kIota, places, {},
                                      Attributes().Set(Attr::kIotaDimension, dimension)));
  shapes.push_back(places);
  Attributes attributes = sort->attributes();
  attributes.Remove(Attr::kIsStable);
  Computation* comparator = WithPlaces(*sort->callee(), place);
  Instruction* sorted =
      computation->Add(Opcode::kSort, Shape::Tuple(shapes), operands, attributes, {&comparator, 1});
  if (!sort->shape().IsTuple()) return AddElement(computation, sorted, 0);
  std::vector<Instruction*> elements;
  for (int64_t k = 0; k < sort->operand_count(); ++k)
    elements.push_back(AddElement(computation, sorted, k));
  return computation->Add(Opcode::kTuple, sort->shape(), elements);
}

}  // namespace assay
