// Rewrites the state of a loop in its condition, its body and its users.
#include "optimized/passes/util/while_util.h"

#include <vector>

#include "optimized/passes/util/rule_util.h"

namespace assay {

Instruction* AddElement(Computation* computation, Instruction* tuple, int64_t i) {
  return computation->Add(Opcode::kGetTupleElement, tuple->shape().elements()[i], {tuple},
                          Attributes().Set(Attr::kIndex, AttrValue(i)));
}

Computation* CopyWithState(const Computation& source, const Shape& state,
                           absl::Span<const int64_t> place,
                           absl::flat_hash_map<const Instruction*, Instruction*>* clones) {
  Computation* copy = source.parent()->AddComputation(source.name());
  Instruction* parameter = copy->AddParameter(0, state);
  const Shape& old_state = source.parameter(0)->shape();
  std::vector<Instruction*> elements;
  for (size_t i = 0; i < place.size(); ++i) {
    elements.push_back(place[i] >= 0 ? AddElement(copy, parameter, place[i])
                                     : AddSplatInteger(copy, old_state.elements()[i], 0));
  }
  Instruction* whole = copy->Add(Opcode::kTuple, old_state, elements);
  Instruction* root = copy->CopyFrom(source, {&whole, 1}, {}, clones);
  for (Instruction* inst : copy->InPostOrder()) {
    if (inst->opcode() != Opcode::kGetTupleElement || inst->operand(0) != whole) continue;
    Instruction* element = elements[inst->tuple_index()];
    if (inst == root) root = element;
    inst->ReplaceAllUsesWith(element);
  }
  copy->set_root(root);
  return copy;
}

}  // namespace assay
