// Moves one layer of ops at a time, until none is left to move.
#include "optimized/passes/control_flow/conditional_code_motion.h"

#include <algorithm>
#include <vector>

#include "optimized/analysis/walks/elementwise_ops.h"
#include "optimized/passes/util/conditional_util.h"
#include "optimized/passes/util/module_util.h"
#include "optimized/passes/util/while_util.h"
#include "spec/base/status_macros.h"

namespace assay {
namespace {

constexpr int kMostLayers = 64;

bool MayMove(const Instruction& inst) {
  return IsElementwise(inst.opcode()) && inst.operand_count() > 0 && inst.callees().empty() &&
         IsPlain(inst);
}

// True if nobody but its one reader needs `inst`: moved, it is computed nowhere else.
bool IsUnshared(const Instruction& inst, const Gates& gates, std::string_view claim) {
  return gates.Holds(claim, &inst, inst.HasOneUse());
}

// The operands need no more room than the result: they are what the conditional gives then.
bool HasSmallOperands(const Instruction& inst) {
  int64_t bytes = 0;
  for (const Instruction* operand : inst.operands()) bytes += operand->shape().ByteSize();
  return bytes <= inst.shape().ByteSize();
}

// True if element k of the results is computed by the same op in all branches.
bool CanHoist(const Instruction& conditional, int64_t k, const Gates& gates) {
  const Instruction& first = *conditional.callee(0)->root()->operand(k);
  if (!MayMove(first) || !HasSmallOperands(first)) return false;
  for (const Computation* branch : conditional.callees()) {
    const Instruction& inst = *branch->root()->operand(k);
    if (inst.opcode() != first.opcode() || !IsPlain(inst) ||
        inst.operand_count() != first.operand_count() || !(inst.shape() == first.shape()) ||
        !gates.Holds("hoist-from-branches/same-operation", &conditional,
                     inst.SameOperation(first)) ||
        !IsUnshared(inst, gates, "hoist-from-branches/unshared"))
      return false;
    for (int64_t i = 0; i < inst.operand_count(); ++i) {
      if (!(inst.operand(i)->shape() == first.operand(i)->shape()) ||
          !IsUnshared(*inst.operand(i), gates, "hoist-from-branches/unshared"))
        return false;
    }
  }
  return true;
}

bool GiveTuples(const Instruction& conditional) {
  if (!conditional.shape().IsTuple()) return false;
  for (int64_t b = 0; b < BranchCount(conditional); ++b) {
    if (!HasMatchingShapes(conditional, b) ||
        conditional.callee(b)->root()->opcode() != Opcode::kTuple)
      return false;
  }
  return true;
}

// A copy of the branch that gives the operands of what moves in its place.
Computation* WithOperands(const Computation& branch, const std::vector<bool>& moves) {
  Computation* copy = branch.parent()->CloneComputation(branch, "before");
  Instruction* old = copy->root();
  std::vector<Instruction*> elements;
  std::vector<Shape> shapes;
  for (int64_t k = 0; k < old->operand_count(); ++k) {
    Instruction* element = old->operand(k);
    if (!moves[static_cast<size_t>(k)]) {
      elements.push_back(element);
    } else {
      elements.insert(elements.end(), element->operands().begin(), element->operands().end());
    }
  }
  for (const Instruction* element : elements) shapes.push_back(element->shape());
  copy->set_root(copy->Add(Opcode::kTuple, Shape::Tuple(shapes), elements));
  copy->RemoveWithDeadOperands(old);
  return copy;
}

// The conditional that was put in the place of the old one; nullptr: nothing moves.
Instruction* HoistOut(Instruction* conditional, Gates& gates) {
  if (!GiveTuples(*conditional)) return nullptr;
  std::vector<bool> moves;
  for (size_t k = 0; k < conditional->shape().elements().size(); ++k)
    moves.push_back(CanHoist(*conditional, static_cast<int64_t>(k), gates));
  if (std::find(moves.begin(), moves.end(), true) == moves.end()) return nullptr;
  Rewrite rewrite(gates, "hoist-from-branches", conditional);
  if (!rewrite) return nullptr;
  Computation* into = conditional->parent();
  std::vector<Computation*> branches;
  for (const Computation* branch : conditional->callees())
    branches.push_back(WithOperands(*branch, moves));
  Instruction* before = into->Add(Opcode::kConditional, branches[0]->root()->shape(),
                                  conditional->operands(), conditional->attributes(), branches);
  std::vector<Instruction*> results;
  int64_t next = 0;
  for (size_t k = 0; k < moves.size(); ++k) {
    if (!moves[k]) {
      results.push_back(AddElement(into, before, next++));
      continue;
    }
    const Instruction& moved = *conditional->callee(0)->root()->operand(static_cast<int64_t>(k));
    std::vector<Instruction*> operands;
    for (int64_t i = 0; i < moved.operand_count(); ++i)
      operands.push_back(AddElement(into, before, next++));
    results.push_back(into->Add(moved.opcode(), moved.shape(), operands, moved.attributes()));
  }
  rewrite.Replace(into->Add(Opcode::kTuple, conditional->shape(), results));
  return before;
}

// Lists what is handed to a branch: the elements of a tuple that nobody else reads, or the one
// array.
std::vector<Instruction*> Handed(const Instruction& conditional, int64_t branch) {
  Instruction* argument = conditional.operand(1 + branch);
  if (argument->opcode() == Opcode::kTuple && argument->HasOneUse())
    return {argument->operands().begin(), argument->operands().end()};
  return {argument};
}

bool CanSink(const Instruction& inst, const Gates& gates) {
  return MayMove(inst) && IsUnshared(inst, gates, "sink-into-branch/unshared");
}

// A copy of the branch that computes what moves from its operands.
Computation* WithOps(const Computation& branch, const std::vector<Instruction*>& handed,
                     const std::vector<bool>& moves, const Shape& state) {
  Computation* copy = branch.parent()->AddComputation(branch.name());
  Instruction* parameter = copy->AddParameter(0, state);
  std::vector<Instruction*> values;
  int64_t next = 0;
  for (size_t k = 0; k < handed.size(); ++k) {
    if (!moves[k]) {
      values.push_back(AddElement(copy, parameter, next++));
      continue;
    }
    std::vector<Instruction*> operands;
    for (int64_t i = 0; i < handed[k]->operand_count(); ++i)
      operands.push_back(AddElement(copy, parameter, next++));
    values.push_back(
        copy->Add(handed[k]->opcode(), handed[k]->shape(), operands, handed[k]->attributes()));
  }
  const Shape& old = branch.parameter(0)->shape();
  Instruction* argument = old.IsTuple() ? copy->Add(Opcode::kTuple, old, values) : values[0];
  copy->set_root(copy->CopyFrom(branch, {&argument, 1}));
  return copy;
}

Instruction* SinkInto(Instruction* conditional, int64_t branch, Gates& gates) {
  if (!HasMatchingShapes(*conditional, branch)) return nullptr;
  const std::vector<Instruction*> handed = Handed(*conditional, branch);
  std::vector<bool> moves;
  for (const Instruction* inst : handed) moves.push_back(CanSink(*inst, gates));
  if (std::find(moves.begin(), moves.end(), true) == moves.end()) return nullptr;
  Rewrite rewrite(gates, "sink-into-branch", conditional);
  if (!rewrite) return nullptr;
  std::vector<Instruction*> elements;
  std::vector<Shape> shapes;
  for (size_t k = 0; k < handed.size(); ++k) {
    if (moves[k]) {
      elements.insert(elements.end(), handed[k]->operands().begin(), handed[k]->operands().end());
    } else {
      elements.push_back(handed[k]);
    }
  }
  for (const Instruction* element : elements) shapes.push_back(element->shape());
  const Shape state = Shape::Tuple(shapes);
  Computation* into = conditional->parent();
  std::vector<Instruction*> operands(conditional->operands().begin(),
                                     conditional->operands().end());
  std::vector<Computation*> branches(conditional->callees().begin(), conditional->callees().end());
  operands[static_cast<size_t>(1 + branch)] = into->Add(Opcode::kTuple, state, elements);
  branches[static_cast<size_t>(branch)] =
      WithOps(*conditional->callee(branch), handed, moves, state);
  Instruction* with = into->Add(Opcode::kConditional, conditional->shape(), operands,
                                conditional->attributes(), branches);
  rewrite.Replace(with);
  return with;
}

// One layer; nullptr: nothing moves.
Instruction* MoveLayer(Instruction* conditional, Gates& gates) {
  if (Instruction* moved = HoistOut(conditional, gates)) return moved;
  for (int64_t branch = 0; branch < BranchCount(*conditional); ++branch) {
    if (Instruction* moved = SinkInto(conditional, branch, gates)) return moved;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<bool> ConditionalCodeMotion::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kConditional})) return false;
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (inst->opcode() != Opcode::kConditional || !inst->control_predecessors().empty() ||
          !inst->control_successors().empty())
        continue;
      for (int layer = 0; layer < kMostLayers && inst != nullptr; ++layer) {
        inst = MoveLayer(inst, context.gates);
        changed |= inst != nullptr;
      }
    }
  }
  if (changed) ASSAY_RETURN_IF_ERROR(module.RemoveUnusedComputations());
  return changed;
}

}  // namespace assay
