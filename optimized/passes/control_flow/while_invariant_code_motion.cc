// Finds what no trip changes, computes it before the loop, and adds it to the state.
#include "optimized/passes/control_flow/while_invariant_code_motion.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "optimized/analysis/while_state.h"
#include "optimized/passes/util/module_util.h"
#include "optimized/passes/util/while_util.h"

namespace assay {
namespace {

constexpr int64_t kFreeElements =
    1024;  // results up to this size are moved whatever they are made from

// Not worth an element of the state: made on the spot, or an index calculation inside some kernel.
bool IsTrivial(Opcode opcode) {
  switch (opcode) {
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kGetTupleElement:
    case Opcode::kTuple:
    case Opcode::kBroadcast:
    case Opcode::kIota:
    case Opcode::kReshape:
    case Opcode::kBitcast:
    case Opcode::kCopy:
    case Opcode::kSlice:
    case Opcode::kConvert:
      return true;
    default:
      return false;
  }
}

bool IsCandidate(const Instruction& loop) {
  if (loop.opcode() != Opcode::kWhile || !loop.control_predecessors().empty() ||
      !loop.control_successors().empty()) {
    return false;
  }
  const Computation* condition = loop.callee(0);
  const Computation* body = loop.callee(1);
  const WhileState state(&loop);
  return state.is_tuple() && body->root()->opcode() == Opcode::kTuple &&
         body->root()->shape() == loop.shape() && body->parameter(0)->shape() == loop.shape() &&
         condition->parameter(0)->shape() == loop.shape() &&
         loop.operand(0)->shape() == loop.shape() && state.IsReadByElement(condition) &&
         state.IsReadByElement(body);
}

class Hoister {
 public:
  Hoister(Instruction* loop, Gates& gates, const Purity& purity)
      : loop_(loop), state_(loop), gates_(gates), purity_(purity) {}

  bool Run() {
    FindInvariants();
    for (Instruction* inst : invariants_) {
      if (IsWorthMoving(*inst) &&
          gates_.Allow(DecisionKind::kRewrite, "while-invariant-motion", inst)) {
        moved_.push_back(inst);
      }
    }
    if (moved_.empty()) return false;
    Rebuild();
    return true;
  }

 private:
  void FindInvariants() {
    for (Instruction* inst : loop_->callee(1)->PostOrder()) {
      const std::optional<int64_t> element = state_.ElementRead(inst);
      const bool is_source = element && inst->shape().IsArray() &&
                             gates_.Holds("while-invariant-motion/element-invariant", loop_,
                                          state_.IsInvariant(*element));
      const bool follows =
          !element && inst->opcode() != Opcode::kParameter && IsPlain(*inst) &&
          purity_.IsPure(*inst) &&
          gates_.Holds("while-invariant-motion/operands-invariant", inst,
                       std::all_of(inst->operands().begin(), inst->operands().end(),
                                   [&](const Instruction* operand) {
                                     return is_invariant_.contains(operand);
                                   }));
      if (!is_source && !follows) continue;
      is_invariant_.insert(inst);
      if (!is_source) invariants_.push_back(inst);
    }
  }

  // The last of a chain of invariant instructions is moved, and the chain with it.
  bool IsWorthMoving(const Instruction& inst) const {
    if (IsTrivial(inst.opcode())) return false;
    const bool is_last =
        std::any_of(inst.users().begin(), inst.users().end(),
                    [&](const Instruction* user) { return !is_invariant_.contains(user); });
    int64_t inputs = 0;
    for (const Instruction* operand : inst.operands()) inputs += operand->shape().ElementCount();
    return is_last && inst.shape().ElementCount() <= std::max(inputs, kFreeElements);
  }

  Instruction* InitialElement(int64_t i) {
    Instruction* initial = state_.Initial(i);
    return initial != nullptr ? initial : AddElement(loop_->parent(), loop_->operand(0), i);
  }

  // Copies `last` and what it is computed from in front of the loop. Bodies may be deep: no
  // recursion.
  Instruction* CopyOutside(Instruction* last) {
    std::vector<Instruction*> open = {last};
    while (!open.empty()) {
      Instruction* at = open.back();
      if (outside_.contains(at)) {
        open.pop_back();
        continue;
      }
      bool ready = true;
      if (!state_.ElementRead(at)) {
        for (Instruction* operand : at->operands()) {
          if (outside_.contains(operand)) continue;
          open.push_back(operand);
          ready = false;
        }
      }
      if (!ready) continue;
      open.pop_back();
      outside_[at] = state_.ElementRead(at) ? InitialElement(*state_.ElementRead(at)) : Copy(at);
    }
    return outside_.at(last);
  }

  Instruction* Copy(const Instruction* inside) {
    std::vector<Instruction*> operands;
    for (const Instruction* operand : inside->operands()) operands.push_back(outside_.at(operand));
    Instruction* copy =
        loop_->parent()->Add(inside->opcode(), inside->shape(), operands, inside->attributes(),
                             inside->callees(), inside->name());
    copy->set_literal(inside->shared_literal());
    return copy;
  }

  void Rebuild() {
    Computation* computation = loop_->parent();
    std::vector<Shape> shapes = loop_->shape().elements();
    std::vector<Instruction*> initial;
    std::vector<int64_t> place;
    for (int64_t i = 0; i < state_.size(); ++i) {
      initial.push_back(InitialElement(i));
      place.push_back(i);
    }
    for (Instruction* inst : moved_) {
      shapes.push_back(inst->shape());
      initial.push_back(CopyOutside(inst));
    }
    const Shape wide = Shape::Tuple(shapes);
    Computation* callees[2] = {CopyWithState(*loop_->callee(0), wide, place), Body(wide, place)};
    Instruction* tuple = computation->Add(Opcode::kTuple, wide, initial);
    Instruction* loop =
        computation->Add(Opcode::kWhile, wide, {tuple}, loop_->attributes(), callees);
    std::vector<Instruction*> elements;
    for (int64_t i = 0; i < state_.size(); ++i) {
      elements.push_back(AddElement(computation, loop, i));
    }
    Instruction* narrow = computation->Add(Opcode::kTuple, loop_->shape(), elements);
    loop_->ReplaceAllUsesWith(narrow);
    computation->RemoveWithDeadOperands(loop_);
  }

  // The body with the moved instructions read from the state, and given on.
  Computation* Body(const Shape& wide, absl::Span<const int64_t> place) const {
    absl::flat_hash_map<const Instruction*, Instruction*> clones;
    Computation* body = CopyWithState(*loop_->callee(1), wide, place, &clones);
    Instruction* old_root = body->root();
    std::vector<Instruction*> extra;
    for (size_t k = 0; k < moved_.size(); ++k) {
      extra.push_back(
          AddElement(body, body->parameter(0), state_.size() + static_cast<int64_t>(k)));
      clones.at(moved_[k])->ReplaceAllUsesWith(extra.back());
    }
    std::vector<Instruction*> next(old_root->operands().begin(), old_root->operands().end());
    next.insert(next.end(), extra.begin(), extra.end());
    body->set_root(body->Add(Opcode::kTuple, wide, next));
    return body;
  }

  Instruction* loop_;
  WhileState state_;
  Gates& gates_;
  const Purity& purity_;
  std::vector<Instruction*> invariants_;  // operands before users
  absl::flat_hash_set<const Instruction*> is_invariant_;
  std::vector<Instruction*> moved_;
  absl::flat_hash_map<const Instruction*, Instruction*> outside_;  // looked up only
};

}  // namespace

absl::StatusOr<bool> WhileInvariantCodeMotion::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kWhile})) return false;
  const Purity purity(module);
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    std::vector<Instruction*> loops;
    for (Instruction* inst : computation->InPostOrder()) {
      if (IsCandidate(*inst)) loops.push_back(inst);
    }
    for (Instruction* loop : loops) changed |= Hoister(loop, context.gates, purity).Run();
  }
  return changed;
}

}  // namespace assay
