// Steps that take operands from ops which hand any number of them on to a computation.
#include <algorithm>
#include <utility>
#include <vector>

#include "fuzz/reduce/edit.h"
#include "fuzz/reduce/resize.h"
#include "fuzz/reduce/steps.h"

namespace assay {
namespace {

// One of the arrays that an op works on, with all that goes when the op loses it.
struct Slot {
  std::vector<int64_t> operands, parameters;  // ascending, and corresponding
  int64_t result = -1;                        // element of the result; -1: there is none
  bool is_returned = false;                   // the computation returns that element, too
};

// Counts the arrays that the op works on, if it may lose one of them; else 0.
int64_t SlotsOf(const Instruction& at) {
  const int64_t count = at.operand_count();
  switch (at.opcode()) {
    case Opcode::kSort:
    case Opcode::kMap:
      return count > 1 ? count : 0;
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
      return count > 2 ? count / 2 : 0;
    case Opcode::kCall:
      return count;
    default:
      return 0;
  }
}

Slot SlotAt(const Instruction& at, int64_t k) {
  switch (at.opcode()) {
    case Opcode::kSort:
      return {{k}, {2 * k, 2 * k + 1}, k, false};
    case Opcode::kReduce:
    case Opcode::kReduceWindow: {
      const int64_t half = at.operand_count() / 2;
      return {{k, half + k}, {k, half + k}, k, true};
    }
    default:
      return {{k}, {k}};
  }
}

// True if the slot's parameters are only compared with each other, as any numbers can be.
bool AreOnlyCompared(const Computation& callee, const Slot& slot) {
  return std::all_of(slot.parameters.begin(), slot.parameters.end(), [&](int64_t number) {
    const Instruction* parameter = callee.parameter(number);
    const auto compares = [&](const Instruction* user) {
      return user->opcode() == Opcode::kCompare &&
             std::all_of(user->operands().begin(), user->operands().end(),
                         [&](const Instruction* operand) {
                           return std::any_of(
                               slot.parameters.begin(), slot.parameters.end(),
                               [&](int64_t one) { return operand == callee.parameter(one); });
                         });
    };
    return parameter != callee.root() &&
           std::all_of(parameter->users().begin(), parameter->users().end(), compares);
  });
}

// Readers of the slot's parameters get those of another slot, or zeros where that is -1. False if
// their shapes differ and matter.
bool RedirectParameters(const Instruction& at, const Slot& slot, int64_t other) {
  Computation* callee = at.callee();
  const bool may_differ = other >= 0 && AreOnlyCompared(*callee, slot);
  for (size_t i = 0; i < slot.parameters.size(); ++i) {
    Instruction* parameter = callee->parameter(slot.parameters[i]);
    if (parameter->users().empty() && parameter != callee->root()) continue;
    Instruction* instead = nullptr;
    if (other >= 0) {
      instead = callee->parameter(SlotAt(at, other).parameters[i]);
    } else if (parameter->shape().IsArray()) {
      instead = callee->AddConstant(Splat(parameter->shape(), 0));
    }
    if (instead == nullptr) return false;
    if (!(instead->shape() == parameter->shape())) {
      if (!may_differ) return false;
      // The order of the other type: a total order is one of floats alone.
      for (Instruction* user : parameter->users())
        user->mutable_attributes().Remove(Attr::kCompareType);
    }
    parameter->ReplaceAllUsesWith(instead);
  }
  return true;
}

template <typename T>
std::vector<T> Without(absl::Span<const T> all, absl::Span<const int64_t> gone) {
  std::vector<T> kept;
  for (int64_t i = 0; i < static_cast<int64_t>(all.size()); ++i) {
    if (std::find(gone.begin(), gone.end(), i) == gone.end()) kept.push_back(all[i]);
  }
  return kept;
}

// The computation no longer returns that element of its tuple.
bool DropReturned(Computation* callee, int64_t element) {
  Instruction* root = callee->root();
  if (root->opcode() != Opcode::kTuple) return false;
  const std::vector<Instruction*> kept = Without<Instruction*>(root->operands(), {element});
  std::vector<Shape> shapes;
  for (const Instruction* value : kept) shapes.push_back(value->shape());
  callee->set_root(kept.size() == 1 ? kept[0]
                                    : callee->Add(Opcode::kTuple, Shape::Tuple(shapes), kept));
  return true;
}

// Readers of `at` read `now`, which lacks that element; who read the element gets `instead`, or a
// zero where that has another shape.
bool ReadFrom(Instruction* at, Instruction* now, int64_t element, Instruction* instead) {
  const std::vector<Instruction*> users(at->users().begin(), at->users().end());
  for (Instruction* user : users) {
    if (user->opcode() != Opcode::kGetTupleElement) return false;
    const int64_t index = user->tuple_index();
    Instruction* value = instead;
    if (index != element && !now->shape().IsTuple()) {
      value = now;
    } else if (index != element) {
      user->mutable_attributes().Set(Attr::kIndex, AttrValue(index > element ? index - 1 : index));
      user->ReplaceOperand(0, now);
      continue;
    } else if (!(instead->shape() == user->shape())) {
      value = user->parent()->AddConstant(Splat(user->shape(), 0));
    }
    user->ReplaceAllUsesWith(value);
  }
  return true;
}

// Takes slot `k` from an op; what its computation reads of that it reads of slot `other`, or gets
// zeros where that is -1. False where it does not fit.
bool DropSlot(Instruction* at, int64_t k, int64_t other) {
  Module* module = at->parent()->parent();
  if (module->Callers(at->callee()).size() > 1)
    at->set_callee(0, module->CloneComputation(*at->callee()));
  Computation* callee = at->callee();
  const Slot slot = SlotAt(*at, k);
  const bool is_root = at == at->parent()->root();
  if (!RedirectParameters(*at, slot, other)) return false;
  if (slot.is_returned && !DropReturned(callee, slot.result)) return false;
  for (size_t i = slot.parameters.size(); i-- > 0;) callee->RemoveParameter(slot.parameters[i]);
  Shape shape = at->shape();
  if (slot.result >= 0) {
    const std::vector<Shape> kept = Without<Shape>(shape.elements(), {slot.result});
    shape = kept.size() == 1 ? kept[0] : Shape::Tuple(kept);
  }
  Instruction* now =
      at->parent()->Add(at->opcode(), shape, Without<Instruction*>(at->operands(), slot.operands),
                        at->attributes(), absl::MakeConstSpan(&callee, 1));
  if (slot.result < 0) {
    at->ReplaceAllUsesWith(now);
    return true;
  }
  if (is_root) {
    if (at->parent() != module->entry()) return false;
    ForgetResultLayout(*module);
    at->parent()->set_root(now);
  }
  return ReadFrom(at, now, slot.result, at->operand(slot.operands[0]));
}

// Takes `count` parts from a concatenation, from the one at `first` on; the sizes of what reads it
// follow.
std::optional<ReduceCase> WithoutParts(const ReduceCase& whole, const Instruction* at,
                                       int64_t first, int64_t count) {
  ReduceCase c = whole.Clone();
  Instruction* changed = Counterpart(*c.module, at);
  std::vector<Instruction*> kept(changed->operands().begin(), changed->operands().end());
  kept.erase(kept.begin() + first, kept.begin() + first + count);
  Instruction* now =
      changed->parent()->Add(Opcode::kConcatenate, changed->shape(), kept, changed->attributes());
  if (changed == changed->parent()->root()) changed->parent()->set_root(now);
  if (!Substitute(changed, now)) return std::nullopt;
  return Resize(c, Equivalence(*c.module, LinkKind::kSizes), {});
}

}  // namespace

void DropOperands(Candidates& to) {
  for (const Instruction* at : LastFirst(to.module())) {
    for (int64_t k = SlotsOf(*at); k-- > 0;) {
      for (int64_t other = SlotsOf(*at); other-- > -1;) {
        if (other == k) continue;
        to.Offer(at, [k, other](ReduceCase&, Instruction* op) { return DropSlot(op, k, other); });
      }
    }
    if (at->opcode() != Opcode::kConcatenate) continue;
    // Half of a thousand parts go at once, if they can.
    const int64_t parts = at->operand_count();
    for (int64_t count = parts / 2; count > 0; count /= 2) {
      for (int64_t first = parts - count; first >= 0; first -= count)
        to.Offer([&] { return WithoutParts(to.best(), at, first, count); });
    }
  }
}

}  // namespace assay
