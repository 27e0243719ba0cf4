// Follows elements of tuples to what was put in.
#include "optimized/passes/control_flow/tuple_simplifier.h"

#include "optimized/passes/util/module_util.h"

namespace assay {
namespace {

bool HasControl(const Instruction& inst) {
  return !inst.control_predecessors().empty() || !inst.control_successors().empty();
}

bool ElementOfTuple(Instruction* inst, Gates& gates) {
  Instruction* tuple = inst->operand(0);
  if (tuple->opcode() != Opcode::kTuple) return false;
  const int64_t index = gates.Number("element-of-tuple/index", inst, inst->tuple_index());
  if (index < 0 || index >= tuple->operand_count()) return false;
  Instruction* element = tuple->operand(index);
  if (!(element->shape() == inst->shape())) return false;
  Rewrite rewrite(gates, "element-of-tuple", inst);
  return rewrite && rewrite.Replace(element);
}

// The instruction whose elements, all and in order, make the tuple; nullptr if there is none.
Instruction* Retupled(const Instruction& tuple, const Gates& gates) {
  Instruction* source = nullptr;
  for (int64_t i = 0; i < tuple.operand_count(); ++i) {
    const Instruction* element = tuple.operand(i);
    if (element->opcode() != Opcode::kGetTupleElement ||
        !gates.Holds("tuple-of-elements/in-order", &tuple, element->tuple_index() == i)) {
      return nullptr;
    }
    const bool same = source == nullptr || source == element->operand(0);
    if (!gates.Holds("tuple-of-elements/one-source", &tuple, same)) return nullptr;
    source = element->operand(0);
  }
  return source != nullptr && source->shape() == tuple.shape() ? source : nullptr;
}

bool TupleOfElements(Instruction* inst, Gates& gates) {
  Instruction* source = Retupled(*inst, gates);
  if (source == nullptr) return false;
  Rewrite rewrite(gates, "tuple-of-elements", inst);
  return rewrite && rewrite.Replace(source);
}

}  // namespace

absl::StatusOr<bool> TupleSimplifier::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kTuple, Opcode::kGetTupleElement})) return false;
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (HasControl(*inst)) continue;
      if (inst->opcode() == Opcode::kGetTupleElement) {
        changed |= ElementOfTuple(inst, context.gates);
      } else if (inst->opcode() == Opcode::kTuple) {
        changed |= TupleOfElements(inst, context.gates);
      }
    }
  }
  return changed;
}

}  // namespace assay
