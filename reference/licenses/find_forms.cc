// The search for operands that license another form of an instruction: the rules, and what is no
// rule because numbers count: quotients of quotients, chains of constants, joined exponentials.
#include "reference/licenses/find_forms.h"

#include <algorithm>
#include <cmath>

#include "absl/algorithm/container.h"
#include "reference/licenses/producers.h"
#include "reference/licenses/rules.h"
#include "spec/ir/reading/combiner.h"
#include "spec/ops/op_table.h"

namespace assay::reference {
namespace {

// A contraction over one term is a product, too.
bool IsScaling(const Instruction& value) {
  return value.opcode() == Opcode::kMultiply || value.opcode() == Opcode::kDivide ||
         ContractsOneTerm(value);
}
// The logistic function is expanded to 1 / (1 + exp(-x)).
bool IsQuotient(const Instruction& value) {
  return value.opcode() == Opcode::kDivide || value.opcode() == Opcode::kLogistic;
}
bool IsShift(const Instruction& value) {
  return value.opcode() == Opcode::kAdd || value.opcode() == Opcode::kSubtract;
}

// The operand `which`, and of the product of a magnitude by itself what the magnitude is of: the
// square needs none.
const Instruction& OperandOf(const Instruction& outer, int64_t which) {
  const Instruction& operand = *outer.operand(which);
  if (outer.opcode() != Opcode::kMultiply || operand.opcode() != Opcode::kAbs) return operand;
  const Instruction& other = *outer.operand(1 - which);
  const Instruction& inner = *operand.operand(0);
  const bool is_square = other.opcode() == Opcode::kAbs && other.operand(0) == &inner;
  return is_square && !IsComplex(inner.shape().element_type()) ? inner : operand;
}

// If the operand `which` of `outer` was made by an op with `is_step` that has a constant operand,
// returns the largest magnitude of that one; otherwise a negative number.
double ConstantBefore(const Instruction& outer, int64_t which, Producers& producers,
                      bool (*is_step)(const Instruction&)) {
  double inner = -1;
  auto is_chain = [&](const Instruction& made) {
    if (!is_step(made)) return false;
    Producers nested(producers);
    for (const Instruction* operand : made.operands())
      inner = std::max(inner, nested.ConstantMagnitude(*operand));
    return inner >= 0;
  };
  return producers.Any(OperandOf(outer, which), is_chain) ? inner : -1;
}

// Does so for the operand beside a constant.
double ChainOfConstants(const Instruction& outer, Producers& producers,
                        bool (*is_step)(const Instruction&)) {
  for (int64_t k : {0, 1}) {
    if (!producers.IsConstant(*outer.operand(k))) continue;
    const double inner = ConstantBefore(outer, 1 - k, producers, is_step);
    if (inner >= 0) return inner;
  }
  return -1;
}

// Does so for the operand beside a factor, or a divisor, that is broadcast.
double ScaleBeforeBroadcast(const Instruction& outer, Producers& producers) {
  for (int64_t k : {1, 0}) {
    if (k == 0 && outer.opcode() == Opcode::kDivide) break;
    if (!producers.IsWidened(*outer.operand(k))) continue;
    const double inner = ConstantBefore(outer, 1 - k, producers, IsScaling);
    if (inner >= 0) return inner;
  }
  return -1;
}

bool IsSum(const Instruction& value) {
  return value.opcode() == Opcode::kReduce && value.shape().IsArray() &&
         ReadCombiner(*value.callee()) == Opcode::kAdd;
}

int64_t TermsOfOneResult(const Instruction& sum) {
  const int64_t results = sum.shape().ElementCount();
  return results == 0 ? 0 : sum.operand(0)->shape().ElementCount() / results;
}

// The terms of the sum of sums that `sum` is the inner part of; 0 if it is none.
int64_t TermsOfWholeSum(const Instruction& sum) {
  const Instruction* value = &sum;
  while (value->users().size() == 1 && value != value->parent()->root()) {
    const Instruction* user = value->users()[0];
    if (IsSum(*user) && user->operand(0) == value)
      return TermsOfOneResult(sum) * TermsOfOneResult(*user);
    const bool moves = user->opcode() == Opcode::kReshape || user->opcode() == Opcode::kBitcast ||
                       user->opcode() == Opcode::kCopy || user->opcode() == Opcode::kTranspose;
    if (!moves) return 0;
    value = user;
  }
  return 0;
}

bool AddsUp(const Instruction& scatter) {
  return scatter.opcode() == Opcode::kScatter && scatter.shape().IsArray() &&
         (IsFloat(scatter.shape().element_type()) || IsComplex(scatter.shape().element_type())) &&
         ReadCombiner(*scatter.callee()) == Opcode::kAdd;
}

// True if nothing uses the value but an addition, moves and scatters on the way looked through. In
// computations that compilers inline it may leave them, or go into others.
bool OnlyMeetsAddition(const Instruction& value, const InliningCallers& callers) {
  constexpr int kMostSteps = 16;  // so that a chain of scatters is not walked once for each
  const Instruction* at = &value;
  for (int step = 0; step < kMostSteps; ++step) {
    const bool is_inlined = callers.contains(at->parent());
    if (at == at->parent()->root()) return is_inlined && at->users().empty();
    if (at->users().size() != 1) return false;
    const Instruction* user = at->users()[0];
    switch (user->opcode()) {
      case Opcode::kAdd:
      case Opcode::kCall:
      case Opcode::kFusion:
        return true;
      case Opcode::kTuple:
        return is_inlined;
      case Opcode::kReshape:
      case Opcode::kCopy:
        break;
      case Opcode::kScatter:
        if (!AddsUp(*user) || user->operand(0) != at) return false;
        break;
      default:
        return false;
    }
    at = user;
  }
  return false;
}

// Constants that scale what was scaled, or are added to what was shifted.
void FindChains(const Instruction& instruction, Producers& producers, LicensedForms& found) {
  const auto note_scale = [&found](double inner) {
    found.scales_twice = inner >= 0;
    found.first_scale = std::max(inner, 0.0);
  };
  // The factor that the operand is multiplied by in the end is broadcast.
  if (instruction.opcode() == Opcode::kBatchNormInference)
    note_scale(ConstantBefore(instruction, 0, producers, IsScaling));
  if (IsScaling(instruction)) {
    note_scale(std::max(ChainOfConstants(instruction, producers, IsScaling),
                        ScaleBeforeBroadcast(instruction, producers)));
    if (instruction.opcode() != Opcode::kDivide) {
      const double first = ConstantBefore(instruction, 0, producers, IsScaling);
      const double second = first < 0 ? -1 : ConstantBefore(instruction, 1, producers, IsScaling);
      if (second >= 0) found.scale_of_both = first * second;
    }
  }
  if (IsShift(instruction)) {
    const double inner = ChainOfConstants(instruction, producers, IsShift);
    found.shifts_twice = inner >= 0;
    found.first_shift = std::max(inner, 0.0);
  }
}

bool IsExponential(const Instruction& value, Producers& producers) {
  auto is_exponential = [&](const Instruction& made) {
    if (made.opcode() == Opcode::kExponential) return true;
    if (made.opcode() != Opcode::kMultiply) return false;
    Producers nested(producers);
    return nested.IsA(*made.operand(0), Opcode::kExponential) &&
           nested.IsA(*made.operand(1), Opcode::kExponential);
  };
  return producers.Any(value, is_exponential);
}

}  // namespace

bool DividesByRoot(const Instruction& quotient, Constants& constants) {
  Producers producers(constants);
  producers.IgnoreSigns();
  return producers.IsA(*quotient.operand(1), Opcode::kSqrt);
}

LicensedForms LicensedFormsOf(const Instruction& instruction, Constants& constants) {
  LicensedForms found;
  if (IsSum(instruction)) found.terms_of_whole_sum = TermsOfWholeSum(instruction);
  if (AddsUp(instruction))
    found.may_start_from_sum = OnlyMeetsAddition(instruction, constants.callers());
  const ElementType type = instruction.shape().element_type();
  if (!IsFloat(type) && !IsComplex(type)) return found;
  Producers producers(constants);
  const Opcode opcode = instruction.opcode();
  if (IsScaling(instruction) || IsShift(instruction) || opcode == Opcode::kBatchNormInference)
    producers.IgnoreSigns();
  if (opcode == Opcode::kDivide) {
    for (const Instruction* operand : instruction.operands())
      found.quotients += producers.Any(*operand, IsQuotient) ? 1 : 0;
  }
  if (IsComplex(type)) {
    found.gives_back_operand =
        opcode == Opcode::kMultiply && UnchangedOperand(instruction, constants) != nullptr;
    FindChains(instruction, producers, found);
    return found;
  }
  NoteFormsByRules(instruction, {constants, &producers}, OperandOf, found);
  if (IsScaling(instruction)) {
    found.joins_exponentials = IsExponential(OperandOf(instruction, 0), producers) &&
                               IsExponential(OperandOf(instruction, 1), producers);
  }
  FindChains(instruction, producers, found);
  return found;
}

}  // namespace assay::reference
