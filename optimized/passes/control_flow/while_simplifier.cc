// Unrolls short loops, and drops or replaces elements of the state.
#include "optimized/passes/control_flow/while_simplifier.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "optimized/analysis/while_state.h"
#include "optimized/passes/control_flow/while_flattener.h"
#include "optimized/passes/util/module_util.h"
#include "optimized/passes/util/rule_util.h"
#include "optimized/passes/util/while_util.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

constexpr int64_t kMaxUnrolledTrips = 8;
constexpr int64_t kMaxUnrolledInstructions = 128;
// Instructions of all trips of a loop that becomes one kernel: those that compute arrays.
constexpr int64_t kMaxFusedInstructions = 256;
constexpr int64_t kMaxFusedScalars = 1024;  // and all others
constexpr int64_t kMaxSunkElements = 64;    // of a constant that is copied into the body

bool IsCandidate(const Instruction& inst) {
  return inst.opcode() == Opcode::kWhile && inst.control_predecessors().empty() &&
         inst.control_successors().empty() && inst.callee(0)->parameter_count() == 1 &&
         inst.callee(1)->parameter_count() == 1 &&
         inst.callee(0)->parameter(0)->shape() == inst.shape() &&
         inst.callee(1)->parameter(0)->shape() == inst.shape() &&
         inst.callee(1)->root()->shape() == inst.shape() &&
         inst.operand(0)->shape() == inst.shape();
}

// ---- trip count -------------------------------------------------------------------------------

std::string_view UnrollRule(int64_t trips) {
  if (trips == 0) return "while-no-trip";
  return trips == 1 ? "while-one-trip" : "while-unroll";
}

// True if a trip goes through arrays element by element and does nothing else: all trips together
// are one kernel, in which arrays stay in registers from trip to trip.
bool BecomesOneKernel(const Computation& body, int64_t trips) {
  int64_t arrays = 0, others = 0;
  for (const Instruction* inst : body) {
    switch (inst->opcode()) {
      case Opcode::kParameter:
      case Opcode::kTuple:
      case Opcode::kGetTupleElement:
      case Opcode::kConstant:
      case Opcode::kBroadcast:
      case Opcode::kReshape:
      case Opcode::kSlice:
      case Opcode::kDynamicSlice:
      case Opcode::kConcatenate:
        ++others;
        continue;
      default:
        break;
    }
    if (!Info(inst->opcode()).Is(kElementwise) || !inst->callees().empty()) return false;
    (inst->shape().IsArray() && inst->shape().ElementCount() > 1 ? arrays : others) += 1;
  }
  return arrays > 0 && arrays * trips <= kMaxFusedInstructions &&
         others * trips <= kMaxFusedScalars;
}

// The loop's bodies one after the other, in its place.
bool Unroll(Instruction* loop, Gates& gates, const Purity& purity) {
  const Computation& body = *loop->callee(1);
  const std::optional<int64_t> known = TripCount(loop, kMaxUnrolledTrips);
  if (!known || !purity.IsPure(*loop)) return false;
  if (*known > 1 && *known * body.instruction_count() > kMaxUnrolledInstructions &&
      !BecomesOneKernel(body, *known)) {
    return false;
  }
  // The fact comes last: whatever is refused first, a wrong count is the decision that makes the
  // difference, not the rewrite that believes it.
  Rewrite rewrite(gates, UnrollRule(*known), loop);
  if (!rewrite) return false;
  const std::optional<int64_t> trips = gates.IntegerFact("trip-count", loop, known);
  if (!trips || *trips < 0 || *trips > 2 * kMaxUnrolledTrips) return false;
  Instruction* state = loop->operand(0);
  for (int64_t i = 0; i < *trips; ++i) state = InlineCopy(loop->parent(), body, {&state, 1});
  return rewrite.Replace(state);
}

// ---- invariant elements -----------------------------------------------------------------------

// After the loop, an element that never changes is what it was before.
bool ForwardInvariants(Instruction* loop, Gates& gates) {
  const WhileState state(loop);
  if (!state.is_tuple()) return false;
  std::vector<Instruction*> readers(loop->users().begin(), loop->users().end());
  std::sort(readers.begin(), readers.end(),
            [](const Instruction* a, const Instruction* b) { return a->id() < b->id(); });
  bool changed = false;
  for (Instruction* reader : readers) {
    if (reader->opcode() != Opcode::kGetTupleElement || reader->IsDead()) continue;
    Instruction* before = state.Initial(reader->tuple_index());
    if (before == nullptr ||
        !gates.Holds("while-invariant-result/invariant", loop,
                     state.IsInvariant(reader->tuple_index())) ||
        !(before->shape() == reader->shape()) || !reader->control_predecessors().empty() ||
        !reader->control_successors().empty()) {
      continue;
    }
    if (!gates.Allow(DecisionKind::kRewrite, "while-invariant-result", reader)) continue;
    reader->ReplaceAllUsesWith(
        before);  // the reader goes with dead code: the loop must stay for the list above
    changed = true;
  }
  return changed;
}

bool AreCalledOnce(const Instruction& loop) {
  const Module* module = loop.parent()->parent();
  return std::all_of(loop.callees().begin(), loop.callees().end(), [&](const Computation* callee) {
    return module->Callers(callee).size() == 1;
  });
}

// The constant that an element is, or of which it is a broadcast of any size; nullptr: neither, or
// one that is too large to be there several times.
const Instruction* SunkConstant(const Instruction* before) {
  if (before == nullptr) return nullptr;
  const bool is_broadcast =
      before->opcode() == Opcode::kBroadcast && before->control_predecessors().empty();
  const Instruction* value = is_broadcast ? before->operand(0) : before;
  return ConstantValue(value) != nullptr && value->shape().ElementCount() <= kMaxSunkElements
             ? value
             : nullptr;
}

// Body and condition see the constant, or the broadcast of one, that an element always is.
bool SinkConstants(Instruction* loop, Gates& gates) {
  const WhileState state(loop);
  if (!state.is_tuple()) return false;
  bool changed = false, is_known_single = false;
  for (int64_t i = 0; i < state.size(); ++i) {
    const Instruction* before = state.Initial(i);
    const Instruction* value = SunkConstant(before);
    if (value == nullptr ||
        !gates.Holds("while-constant-sinking/invariant", loop, state.IsInvariant(i))) {
      continue;
    }
    if (!is_known_single && !AreCalledOnce(*loop)) return false;
    is_known_single = true;
    for (Computation* callee : loop->callees()) {
      for (Instruction* reader : callee->InPostOrder()) {
        if (state.ElementRead(reader) != i || !(reader->shape() == before->shape())) continue;
        // The root tuple of the body keeps its element, or it would not be invariant any more.
        std::vector<Instruction*> users;
        for (Instruction* user : reader->users()) {
          const bool gives_on = callee == loop->callee(1) && user == callee->root();
          if (!gives_on) users.push_back(user);
        }
        if (users.empty() ||
            !gates.Allow(DecisionKind::kRewrite, "while-constant-sinking", reader)) {
          continue;
        }
        Instruction* constant = callee->AddConstant(value->shared_literal());
        if (value != before) {
          constant =
              callee->Add(Opcode::kBroadcast, before->shape(), {constant}, before->attributes());
        }
        for (Instruction* user : users) {
          for (int64_t k = 0; k < user->operand_count(); ++k) {
            if (user->operand(k) == reader) user->ReplaceOperand(k, constant);
          }
        }
        changed = true;
      }
    }
  }
  return changed;
}

// ---- elements nobody needs --------------------------------------------------------------------

void MarkRead(const WhileState& state, const Instruction* from, std::vector<bool>& live,
              absl::flat_hash_set<const Instruction*>& seen) {
  std::vector<const Instruction*> open = {from};
  while (!open.empty()) {
    const Instruction* at = open.back();
    open.pop_back();
    if (!seen.insert(at).second) continue;
    if (const std::optional<int64_t> element = state.ElementRead(at)) {
      live[*element] = true;
    } else {
      open.insert(open.end(), at->operands().begin(), at->operands().end());
    }
  }
}

// Elements that the condition, the readers of the loop, or other such elements depend on.
std::vector<bool> LiveElements(const Instruction* loop, const WhileState& state,
                               const Gates& gates) {
  std::vector<bool> live(state.size(), false);
  for (const Instruction* reader : loop->users()) {
    if (!reader->IsDead()) live[reader->tuple_index()] = true;
  }
  absl::flat_hash_set<const Instruction*> seen;
  MarkRead(state, loop->callee(0)->root(), live, seen);
  seen.clear();
  std::vector<bool> done(state.size(), false);
  for (bool grew = true; grew;) {
    grew = false;
    for (int64_t i = 0; i < state.size(); ++i) {
      if (!live[i] || done[i]) continue;
      done[i] = grew = true;
      if (gates.Holds("while-dead-element/none-through-others", loop, false)) continue;
      MarkRead(state, state.Next(i), live, seen);
    }
  }
  return live;
}

bool DropDeadElements(Instruction* loop, Gates& gates, const Purity& purity) {
  const WhileState state(loop);
  if (!state.is_tuple() || loop == loop->parent()->root() || loop->users().empty() ||
      loop->operand(0)->opcode() != Opcode::kTuple ||
      loop->callee(1)->root()->opcode() != Opcode::kTuple || !purity.IsPure(*loop) ||
      !state.IsReadByElement(loop->callee(0)) || !state.IsReadByElement(loop->callee(1)) ||
      !std::all_of(loop->users().begin(), loop->users().end(), [](const Instruction* user) {
        return user->opcode() == Opcode::kGetTupleElement && user->control_predecessors().empty() &&
               user->control_successors().empty();
      })) {
    return false;
  }
  const std::vector<bool> live = LiveElements(loop, state, gates);
  std::vector<int64_t> kept;
  std::vector<Shape> shapes;
  std::vector<Instruction*> initial;
  std::vector<int64_t> place(live.size(), -1);
  for (int64_t i = 0; i < state.size(); ++i) {
    if (live[i]) {
      place[i] = static_cast<int64_t>(kept.size());
      kept.push_back(i);
      shapes.push_back(loop->shape().elements()[i]);
      initial.push_back(state.Initial(i));
    } else if (!loop->shape().elements()[i].IsArray() ||
               IsComplex(loop->shape().elements()[i].element_type()) ||
               loop->shape().elements()[i].HasDynamicDimension()) {
      return false;
    }
  }
  if (static_cast<int64_t>(kept.size()) == state.size()) return false;
  if (!gates.Allow(DecisionKind::kRewrite, "while-dead-element", loop)) return false;
  Computation* computation = loop->parent();
  const Shape narrow = Shape::Tuple(shapes);
  Computation* body = CopyWithState(*loop->callee(1), narrow, place);
  std::vector<Instruction*> next;
  for (int64_t k : kept) next.push_back(body->root()->operand(k));
  body->set_root(body->Add(Opcode::kTuple, narrow, next));
  Computation* callees[2] = {CopyWithState(*loop->callee(0), narrow, place), body};
  Instruction* tuple = computation->Add(Opcode::kTuple, narrow, initial);
  Attributes attributes = loop->attributes();
  attributes.Remove(Attr::kBackendConfig);  // may speak of elements by their old place
  Instruction* smaller =
      computation->Add(Opcode::kWhile, narrow, {tuple}, std::move(attributes), callees);
  const std::vector<Instruction*> readers(loop->users().begin(), loop->users().end());
  for (Instruction* reader : readers) {
    if (reader->IsDead()) {
      computation->Remove(reader);
      continue;
    }
    reader->mutable_attributes().Set(Attr::kIndex, AttrValue(place[reader->tuple_index()]));
    reader->ReplaceOperand(0, smaller);
  }
  computation->RemoveWithDeadOperands(loop);
  return true;
}

}  // namespace

absl::StatusOr<bool> WhileSimplifier::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kWhile})) return false;
  const Purity purity(module);
  bool changed = false;
  int64_t size = module.InstructionCount();
  for (Computation* computation : UnitComputations(module)) {
    std::vector<Instruction*> loops;
    for (Instruction* inst : computation->InPostOrder()) {
      if (inst->opcode() == Opcode::kWhile && IsCandidate(*inst)) loops.push_back(inst);
    }
    for (Instruction* inst : loops) {
      if (FlattenState(inst, context.gates)) {
        changed = true;
        continue;
      }
      changed |= SinkConstants(inst, context.gates);
      changed |= ForwardInvariants(inst, context.gates);
      if (size < kMaxInlinedInstructions && Unroll(inst, context.gates, purity)) {
        changed = true;
        size = module.InstructionCount();
        continue;
      }
      changed |= DropDeadElements(inst, context.gates, purity);
    }
  }
  return changed;
}

}  // namespace assay
