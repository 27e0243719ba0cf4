// Steps about called computations.
#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "fuzz/reduce/edit.h"
#include "fuzz/reduce/steps.h"

namespace assay {
namespace {

// Replaces `call` by a copy of `callee` on `arguments`. The callee itself stays for other callers.
bool Inline(Instruction* call, const Computation* callee,
            absl::Span<Instruction* const> arguments) {
  if (callee->parameter_count() != static_cast<int64_t>(arguments.size())) return false;
  Instruction* root = call->parent()->CopyFrom(*callee, arguments);
  return Substitute(call, root);
}

// An array of one element, however the program runs.
bool HasOneElement(const Shape& shape) {
  return shape.IsArray() && !shape.HasDynamicDimension() && shape.ElementCount() == 1;
}

// The element of an array that has only one, as a scalar; null of others.
Instruction* OnlyElement(Instruction* array) {
  const Shape& shape = array->shape();
  if (!HasOneElement(shape)) return nullptr;
  if (shape.rank() == 0) return array;
  const bool is_moved =
      array->opcode() == Opcode::kBroadcast || array->opcode() == Opcode::kReshape;
  if (is_moved && array->operand(0)->shape().rank() == 0) return array->operand(0);
  return array->parent()->Add(Opcode::kReshape, Shape::Array(shape.element_type(), {}), {array});
}

// The value of `call`, which works on arrays of one element, by its computation on scalars.
bool InlineOnElements(Instruction* call) {
  if (!HasOneElement(call->shape())) return false;
  std::vector<Instruction*> arguments;
  for (Instruction* operand : call->operands()) {
    arguments.push_back(OnlyElement(operand));
    if (arguments.back() == nullptr) return false;
  }
  // The start of a reduction comes before what is reduced.
  if (call->opcode() == Opcode::kReduce) std::reverse(arguments.begin(), arguments.end());
  if (call->callee()->parameter_count() != static_cast<int64_t>(arguments.size())) return false;
  Instruction* value = call->parent()->CopyFrom(*call->callee(), arguments);
  if (call->shape().rank() > 0)
    value = call->parent()->Add(Opcode::kReshape, call->shape(), {value});
  return Substitute(call, value);
}

// The ways to put the body of what `call` calls in its place.
int64_t InlineForms(const Instruction* call) {
  switch (call->opcode()) {
    case Opcode::kCall:
    case Opcode::kFusion:
    case Opcode::kMap:
    case Opcode::kReduce:
    case Opcode::kWhile:
      return 1;
    case Opcode::kConditional:
      return static_cast<int64_t>(call->callees().size());
    default:
      return 0;
  }
}

bool InlineForm(Instruction* call, int64_t form) {
  switch (call->opcode()) {
    case Opcode::kConditional:
      return Inline(call, call->callee(form), call->operands().subspan(1 + form, 1));
    case Opcode::kWhile:
      return Inline(call, call->callee(1), call->operands());
    case Opcode::kMap:
    case Opcode::kReduce:
      return InlineOnElements(call);
    default:
      return Inline(call, call->callee(0), call->operands());
  }
}

// Both take and give the same.
bool AreAlike(const Computation& a, const Computation& b) {
  if (a.parameter_count() != b.parameter_count()) return false;
  if (!Compatible(a.root()->shape(), b.root()->shape())) return false;
  for (int64_t i = 0; i < a.parameter_count(); ++i) {
    if (!Compatible(a.parameter(i)->shape(), b.parameter(i)->shape())) return false;
  }
  return true;
}

// True if `to` is called within `from`, directly or not.
bool Reaches(const Computation& from, const Computation* to) {
  return absl::c_any_of(from, [to](const Instruction* at) {
    return absl::c_any_of(at->callees(), [to](const Computation* callee) {
      return callee == to || Reaches(*callee, to);
    });
  });
}

// Whoever calls `from` calls `to` instead.
void CallInstead(Computation* from, Computation* to) {
  for (Instruction* caller : from->parent()->Callers(from)) {
    for (size_t k = 0; k < caller->callees().size(); ++k) {
      if (caller->callee(k) == from) caller->set_callee(static_cast<int64_t>(k), to);
    }
  }
}

// The arguments on which to look at callee number `c` of `call` alone: what the call passes where
// shapes agree, new inputs otherwise.
std::vector<Instruction*> ArgumentsFor(ReduceCase& reduce_case, Instruction* call, size_t c) {
  Computation* callee = call->callee(c);
  bool branch = call->opcode() == Opcode::kConditional;
  std::vector<Instruction*> arguments;
  for (int64_t i = 0; i < callee->parameter_count(); ++i) {
    const Shape& wanted = callee->parameter(i)->shape();
    int64_t operand = branch ? static_cast<int64_t>(c) + 1 : i;
    bool passed =
        operand < call->operand_count() && Compatible(call->operand(operand)->shape(), wanted);
    if (!passed && !wanted.IsArray()) return {};
    arguments.push_back(passed ? call->operand(operand)
                               : AddInput(reduce_case, Splat(wanted, i + 1)));
  }
  return arguments;
}

}  // namespace

void LiftCallee(Candidates& to) {
  for (const Instruction* at : to.entry().PostOrder()) {
    for (size_t k = 0; k < at->callees().size(); ++k) {
      to.Offer(at, [k](ReduceCase& c, Instruction* call) {
        const std::vector<Instruction*> arguments = ArgumentsFor(c, call, k);
        const Computation& callee = *call->callee(k);
        if (static_cast<int64_t>(arguments.size()) != callee.parameter_count()) return false;
        ForgetResultLayout(*c.module);
        c.module->entry()->set_root(c.module->entry()->CopyFrom(callee, arguments));
        return true;
      });
    }
  }
}

void InlineCalls(Candidates& to) {
  // The inlined body may be longer than the call, but a call is gone. The cost counts instructions
  // first, so that callees which are still called elsewhere are a loss.
  for (const Instruction* at : LastFirst(to.module())) {
    for (int64_t form = 0; form < InlineForms(at); ++form)
      to.Offer(at, [form](ReduceCase&, Instruction* call) { return InlineForm(call, form); });
  }
}

void MergeComputations(Candidates& to) {
  // A dump may have thousands of computations; of each only so many others are tried.
  constexpr int kMostOthers = 8;
  for (const Computation* a : to.module().computations()) {
    int others = 0;
    for (const Computation* b : to.module().computations()) {
      if (a == b || a == &to.entry() || b == &to.entry() || !AreAlike(*a, *b)) continue;
      if (++others > kMostOthers || to.IsOver()) break;
      if (Reaches(*b, a)) continue;  // it would call itself
      to.Offer([&](ReduceCase& c) {
        CallInstead(Counterpart(*c.module, a), Counterpart(*c.module, b));
        return true;
      });
    }
  }
}

void SimplifyCallees(Candidates& to) {
  constexpr int64_t kMostElements = 4096;
  for (const Instruction* at : LastFirst(to.module())) {
    if (at->parent() == &to.entry() || IsLeaf(at)) continue;
    if (!at->shape().IsArray() || at->shape().ElementCount() > kMostElements) continue;
    for (int64_t value : {0, 1}) {
      to.Offer(at, [value](ReduceCase&, Instruction* target) {
        return Substitute(target, target->parent()->AddConstant(Splat(target->shape(), value)));
      });
    }
  }
}

}  // namespace assay
