// Arithmetic identities. Integers wrap, so theirs always hold; those of floats are the ones that
// keep NaN, infinities and the sign of zero, and the one that a clause of the profile grants.
// Document: operation semantics chapters 6 and 18.2.
#include <cmath>
#include <optional>
#include <utility>

#include "optimized/passes/rules/rules.h"
#include "optimized/passes/util/rule_util.h"
#include "spec/types/float_format.h"

namespace assay {
namespace {

ElementType TypeOf(const Instruction* inst) { return inst->shape().element_type(); }
bool IsIntegerArray(const Instruction* inst) { return IsInteger(TypeOf(inst)); }
bool IsNumber(const Instruction* inst) { return IsInteger(TypeOf(inst)) || IsFloat(TypeOf(inst)); }

// The neutral element of x + e: 0 for integers, -0 for floats (x + 0 turns -0 to +0).
bool IsAdditiveIdentity(const Instruction* inst, const Gates& gates, std::string_view claim) {
  if (!IsFloat(TypeOf(inst))) return IsSplat(inst, 0.0);
  return IsSplat(inst, -0.0) || (IsSplat(inst, 0.0) && gates.Holds(claim, inst, false));
}

bool AddZero(Instruction* add, RuleContext& context, std::string_view rule) {
  if (!IsNumber(add)) return false;
  constexpr std::string_view kClaim = "add-zero/negative-zero";
  if (IsAdditiveIdentity(add->operand(1), context.gates, kClaim)) {
    return ReplaceByExisting(add, add->operand(0), context, rule);
  }
  return IsAdditiveIdentity(add->operand(0), context.gates, kClaim) &&
         ReplaceByExisting(add, add->operand(1), context, rule);
}

bool AddNegate(Instruction* add, RuleContext& context, std::string_view rule) {
  if (!IsNumber(add)) return false;
  Instruction *a = add->operand(0), *b = add->operand(1);
  if (b->opcode() != Opcode::kNegate) std::swap(a, b);
  if (b->opcode() != Opcode::kNegate) return false;
  return RewriteTo(add, context, rule, Opcode::kSubtract, {a, b->operand(0)});
}

bool SubtractZero(Instruction* subtract, RuleContext& context, std::string_view rule) {
  const Instruction* zero = subtract->operand(1);
  return IsNumber(subtract) &&
         (IsSplat(zero, 0.0) ||
          (IsSplat(zero, -0.0) &&
           context.gates.Holds("subtract-zero/positive-zero", subtract, false))) &&
         ReplaceByExisting(subtract, subtract->operand(0), context, rule);
}

bool SubtractSelf(Instruction* subtract, RuleContext& context, std::string_view rule) {
  if (!context.gates.Holds("subtract-self/integers", subtract, IsIntegerArray(subtract)) ||
      subtract->operand(0) != subtract->operand(1)) {
    return false;
  }
  Rewrite rewrite(context.gates, rule, subtract);
  return rewrite && rewrite.Replace(AddSplatInteger(subtract->parent(), subtract->shape(), 0));
}

bool SubtractNegate(Instruction* subtract, RuleContext& context, std::string_view rule) {
  Instruction* b = subtract->operand(1);
  if (!IsNumber(subtract) || b->opcode() != Opcode::kNegate) return false;
  return RewriteTo(subtract, context, rule, Opcode::kAdd, {subtract->operand(0), b->operand(0)});
}

bool SubtractFromZero(Instruction* subtract, RuleContext& context, std::string_view rule) {
  if (!IsNumber(subtract) || !IsAdditiveIdentity(subtract->operand(0), context.gates,
                                                 "subtract-from-zero/negative-zero")) {
    return false;
  }
  return RewriteTo(subtract, context, rule, Opcode::kNegate, {subtract->operand(1)});
}

bool MultiplyOne(Instruction* multiply, RuleContext& context, std::string_view rule) {
  if (!IsNumber(multiply)) return false;
  if (IsSplat(multiply->operand(1), 1.0)) {
    return ReplaceByExisting(multiply, multiply->operand(0), context, rule);
  }
  return IsSplat(multiply->operand(0), 1.0) &&
         ReplaceByExisting(multiply, multiply->operand(1), context, rule);
}

bool MultiplyZero(Instruction* multiply, RuleContext& context, std::string_view rule) {
  if (!context.gates.Holds("multiply-zero/integers", multiply, IsIntegerArray(multiply)) ||
      (!IsSplat(multiply->operand(0), 0) && !IsSplat(multiply->operand(1), 0))) {
    return false;
  }
  Rewrite rewrite(context.gates, rule, multiply);
  return rewrite && rewrite.Replace(AddSplatInteger(multiply->parent(), multiply->shape(), 0));
}

bool MultiplyMinusOne(Instruction* multiply, RuleContext& context, std::string_view rule) {
  if (!IsSigned(TypeOf(multiply)) && !IsFloat(TypeOf(multiply))) return false;
  Instruction *a = multiply->operand(0), *b = multiply->operand(1);
  if (!IsSplat(b, -1.0)) std::swap(a, b);
  if (!IsSplat(b, -1.0)) return false;
  return RewriteTo(multiply, context, rule, Opcode::kNegate, {a});
}

bool DivideOne(Instruction* divide, RuleContext& context, std::string_view rule) {
  return IsNumber(divide) && IsSplat(divide->operand(1), 1.0) &&
         ReplaceByExisting(divide, divide->operand(0), context, rule);
}

// 1 / `divisor` rounded to the type, if that and the divisor are normal; whether it is exact.
struct Reciprocal {
  double value = 0;
  bool exact = false;
};
std::optional<Reciprocal> NormalReciprocal(const Instruction* divisor, const Gates& gates) {
  const std::optional<double> value = SplatFloat(divisor);
  if (!value || !std::isfinite(*value) || *value == 0) return std::nullopt;
  const FloatFormat& format = Format(TypeOf(divisor));
  const double rounded = DecodeFloat(format, EncodeFloat(format, 1.0 / *value));
  const bool normal =
      std::fabs(rounded) >= format.MinNormal() && std::fabs(*value) >= format.MinNormal();
  if (!std::isfinite(rounded) || !gates.Holds("divide-power-of-two/normal", divisor, normal)) {
    return std::nullopt;
  }
  int exponent;
  return Reciprocal{rounded, std::fabs(std::frexp(*value, &exponent)) == 0.5};
}

bool MultiplyByReciprocal(Instruction* divide, double reciprocal, RuleContext& context,
                          std::string_view rule) {
  Rewrite rewrite(context.gates, rule, divide);
  if (!rewrite) return false;
  Instruction* factor = AddSplat(divide->parent(), divide->shape(),
                                 AddScalarFloat(divide->parent(), TypeOf(divide), reciprocal));
  return ReplaceByNew(rewrite, divide, Opcode::kMultiply, {divide->operand(0), factor});
}

// x / 2^k and x * 2^-k are the same number, rounded once.
bool DividePowerOfTwo(Instruction* divide, RuleContext& context, std::string_view rule) {
  if (!IsFloat(TypeOf(divide))) return false;
  const Gates& gates = context.gates;
  const std::optional<Reciprocal> reciprocal = NormalReciprocal(divide->operand(1), gates);
  return reciprocal && gates.Holds("divide-power-of-two/exact", divide, reciprocal->exact) &&
         MultiplyByReciprocal(divide, reciprocal->value, context, rule);
}

bool ReciprocalDivision(Instruction* divide, RuleContext& context, std::string_view rule) {
  // With few bits the reciprocal's own rounding is more than the clause allows.
  if (!IsFloat(TypeOf(divide)) || BitWidth(TypeOf(divide)) < 16 ||
      !context.profile.Grants(ClauseId::kReciprocalDivision)) {
    return false;
  }
  const std::optional<Reciprocal> reciprocal = NormalReciprocal(divide->operand(1), context.gates);
  return reciprocal && MultiplyByReciprocal(divide, reciprocal->value, context, rule);
}

// k for an unsigned splat of 2^k.
std::optional<int> UnsignedPowerOfTwo(const Instruction* inst, bool is_unsigned) {
  if (!is_unsigned) return std::nullopt;
  const std::optional<int64_t> value = SplatInteger(inst);
  const bool is_least = value && *value == MinInteger(TypeOf(inst));
  const uint64_t bits = value && !is_least ? static_cast<uint64_t>(*value) : 0;
  if (bits == 0 || (bits & (bits - 1)) != 0) return std::nullopt;
  return __builtin_ctzll(bits);
}

bool UnsignedDivideToShift(Instruction* divide, RuleContext& context, std::string_view rule) {
  const std::optional<int> exponent = UnsignedPowerOfTwo(
      divide->operand(1),
      context.gates.Holds("unsigned-divide-to-shift/unsigned", divide, IsUnsigned(TypeOf(divide))));
  if (!exponent) return false;
  Rewrite rewrite(context.gates, rule, divide);
  if (!rewrite) return false;
  Instruction* amount = AddSplatInteger(divide->parent(), divide->shape(), *exponent);
  return ReplaceByNew(rewrite, divide, Opcode::kShiftRightLogical, {divide->operand(0), amount});
}

bool UnsignedRemainderToAnd(Instruction* remainder, RuleContext& context, std::string_view rule) {
  const std::optional<int> exponent = UnsignedPowerOfTwo(
      remainder->operand(1), context.gates.Holds("unsigned-remainder-to-and/unsigned", remainder,
                                                 IsUnsigned(TypeOf(remainder))));
  if (!exponent) return false;
  Rewrite rewrite(context.gates, rule, remainder);
  if (!rewrite) return false;
  const int64_t mask = static_cast<int64_t>((uint64_t{1} << *exponent) - 1);
  return ReplaceByNew(
      rewrite, remainder, Opcode::kAnd,
      {remainder->operand(0), AddSplatInteger(remainder->parent(), remainder->shape(), mask)});
}

// op(op(x)) -> x.
bool Involution(Instruction* outer, RuleContext& context, std::string_view rule) {
  Instruction* inner = outer->operand(0);
  return inner->opcode() == outer->opcode() &&
         ReplaceByExisting(outer, inner->operand(0), context, rule);
}

bool NegateOfSubtract(Instruction* negate, RuleContext& context, std::string_view rule) {
  // Not for floats: -(x - x) is -0, x - x is +0.
  Instruction* subtract = negate->operand(0);
  if (!context.gates.Holds("negate-of-subtract/integers", negate, IsIntegerArray(negate)) ||
      subtract->opcode() != Opcode::kSubtract) {
    return false;
  }
  return RewriteTo(negate, context, rule, Opcode::kSubtract,
                   {subtract->operand(1), subtract->operand(0)});
}

bool AbsOfSignChange(Instruction* abs, RuleContext& context, std::string_view rule) {
  Instruction* inner = abs->operand(0);
  if (inner->opcode() == Opcode::kAbs && !IsComplex(TypeOf(inner->operand(0)))) {
    return ReplaceByExisting(abs, inner, context, rule);
  }
  // An unsigned abs is the identity and does not undo a wrap.
  if (inner->opcode() != Opcode::kNegate || IsComplex(TypeOf(inner)) ||
      !context.gates.Holds("abs-of-sign-change/signed", abs, !IsUnsigned(TypeOf(abs)))) {
    return false;
  }
  return RewriteTo(abs, context, rule, Opcode::kAbs, {inner->operand(0)});
}

bool PowerOfConstant(Instruction* power, RuleContext& context, std::string_view rule) {
  if (!IsNumber(power)) return false;
  Instruction* base = power->operand(0);
  const Gates& gates = context.gates;
  Instruction* exponent = power->operand(1);
  if (gates.Holds("power-constant/exponent-one", power, IsSplat(exponent, 1.0))) {
    return ReplaceByExisting(power, base, context, rule);
  }
  if (gates.Holds("power-constant/exponent-two", power, IsSplat(exponent, 2.0))) {
    return RewriteTo(power, context, rule, Opcode::kMultiply, {base, base});
  }
  // x^0 is 1 for every x, NaN included.
  const bool is_zero = IsSplat(exponent, 0.0) || IsSplat(exponent, -0.0);
  if (!gates.Holds("power-constant/exponent-zero", power, is_zero)) return false;
  Rewrite rewrite(context.gates, rule, power);
  return rewrite && rewrite.Replace(AddSplatInteger(power->parent(), power->shape(), 1));
}

constexpr Rule kRules[] = {
    {"add-zero", Opcode::kAdd, AddZero, "x + 0 -> x (floats: x + -0)"},
    {"add-negate", Opcode::kAdd, AddNegate, "x + -y -> x - y"},
    {"subtract-zero", Opcode::kSubtract, SubtractZero, "x - 0 -> x"},
    {"subtract-self", Opcode::kSubtract, SubtractSelf, "x - x -> 0 (integers)"},
    {"subtract-negate", Opcode::kSubtract, SubtractNegate, "x - -y -> x + y"},
    {"subtract-from-zero", Opcode::kSubtract, SubtractFromZero, "0 - x -> -x (floats: -0 - x)"},
    {"multiply-one", Opcode::kMultiply, MultiplyOne, "x * 1 -> x"},
    {"multiply-zero", Opcode::kMultiply, MultiplyZero, "x * 0 -> 0 (integers)"},
    {"multiply-minus-one", Opcode::kMultiply, MultiplyMinusOne, "x * -1 -> -x"},
    {"divide-one", Opcode::kDivide, DivideOne, "x / 1 -> x"},
    {"divide-power-of-two", Opcode::kDivide, DividePowerOfTwo, "x / 2^k -> x * 2^-k (floats)"},
    {"reciprocal-division", Opcode::kDivide, ReciprocalDivision,
     "x / c -> x * (1 / c), where the profile grants reciprocal division"},
    {"unsigned-divide-to-shift", Opcode::kDivide, UnsignedDivideToShift, "x / 2^k -> x >> k"},
    {"unsigned-remainder-to-and", Opcode::kRemainder, UnsignedRemainderToAnd,
     "x rem 2^k -> x and (2^k - 1)"},
    {"negate-of-negate", Opcode::kNegate, Involution, "-(-x) -> x"},
    {"negate-of-subtract", Opcode::kNegate, NegateOfSubtract, "-(x - y) -> y - x (integers)"},
    {"not-of-not", Opcode::kNot, Involution, "not(not(x)) -> x"},
    {"abs-of-sign-change", Opcode::kAbs, AbsOfSignChange, "|-x| -> |x|, ||x|| -> |x|"},
    {"power-constant", Opcode::kPower, PowerOfConstant, "x^0 -> 1, x^1 -> x, x^2 -> x * x"},
};

}  // namespace

absl::Span<const Rule> ArithmeticRules() { return kRules; }

}  // namespace assay
