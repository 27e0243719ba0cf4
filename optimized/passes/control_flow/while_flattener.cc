// Takes tuples apart down to their leaves, and puts them together where they were read.
#include "optimized/passes/control_flow/while_flattener.h"

#include <algorithm>
#include <vector>

#include "optimized/passes/util/while_util.h"

namespace assay {
namespace {

void AddLeaves(const Shape& shape, std::vector<Shape>& leaves) {
  if (!shape.IsTuple()) {
    leaves.push_back(shape);
    return;
  }
  for (const Shape& element : shape.elements()) AddLeaves(element, leaves);
}

void TakeApart(Instruction* value, std::vector<Instruction*>& leaves) {
  if (!value->shape().IsTuple()) {
    leaves.push_back(value);
    return;
  }
  const auto count = static_cast<int64_t>(value->shape().elements().size());
  for (int64_t i = 0; i < count; ++i) {
    const bool is_known = value->opcode() == Opcode::kTuple;
    TakeApart(is_known ? value->operand(i) : AddElement(value->parent(), value, i), leaves);
  }
}

// A value of `shape` of the next leaves.
Instruction* PutTogether(Computation* into, const Shape& shape,
                         absl::Span<Instruction* const>& leaves) {
  if (!shape.IsTuple()) {
    Instruction* leaf = leaves.front();
    leaves.remove_prefix(1);
    return leaf;
  }
  std::vector<Instruction*> elements;
  for (const Shape& element : shape.elements())
    elements.push_back(PutTogether(into, element, leaves));
  return into->Add(Opcode::kTuple, shape, elements);
}

Instruction* NestedOf(Instruction* flat, const Shape& shape) {
  std::vector<Instruction*> leaves;
  TakeApart(flat, leaves);
  absl::Span<Instruction* const> rest = leaves;
  return PutTogether(flat->parent(), shape, rest);
}

Instruction* FlatOf(Instruction* nested, const Shape& flat) {
  std::vector<Instruction*> leaves;
  TakeApart(nested, leaves);
  return nested->parent()->Add(Opcode::kTuple, flat, leaves);
}

// A copy of body or condition that gets the flat state.
Computation* OnFlatState(const Computation& callee, const Shape& flat, const Shape& nested) {
  Computation* copy = callee.root()->parent()->parent()->AddComputation(callee.name());
  Instruction* state = NestedOf(copy->AddParameter(0, flat), nested);
  Instruction* root = copy->CopyFrom(callee, {&state, 1});
  copy->set_root(root->shape().IsTuple() ? FlatOf(root, flat) : root);
  return copy;
}

}  // namespace

bool FlattenState(Instruction* loop, Gates& gates) {
  const Shape nested = loop->shape();
  if (!nested.IsTuple() || std::none_of(nested.elements().begin(), nested.elements().end(),
                                        [](const Shape& e) { return e.IsTuple(); }))
    return false;
  Rewrite rewrite(gates, "while-flatten-state", loop);
  if (!rewrite) return false;
  std::vector<Shape> leaves;
  AddLeaves(nested, leaves);
  const Shape flat = Shape::Tuple(leaves);
  Computation* const callees[] = {OnFlatState(*loop->callee(0), flat, nested),
                                  OnFlatState(*loop->callee(1), flat, nested)};
  Attributes attributes = loop->attributes();
  attributes.Remove(Attr::kBackendConfig);  // may speak of elements by their old place
  Instruction* flat_loop = loop->parent()->Add(
      Opcode::kWhile, flat, {FlatOf(loop->operand(0), flat)}, std::move(attributes), callees);
  return rewrite.Replace(NestedOf(flat_loop, nested));
}

}  // namespace assay
