// Bitwise operations and shifts, minimum, maximum and clamp.
#include <cmath>
#include <limits>
#include <optional>

#include "optimized/passes/rules/rules.h"
#include "optimized/passes/util/rule_util.h"

namespace assay {
namespace {

ElementType TypeOf(const Instruction* inst) { return inst->shape().element_type(); }

bool IsZero(const Instruction* inst) { return SplatInteger(inst) == 0; }
bool IsAllOnes(const Instruction* inst) {
  const std::optional<int64_t> value = SplatInteger(inst);
  if (!value) return false;
  if (IsPred(TypeOf(inst))) return *value == 1;
  const int unused = 64 - BitWidth(TypeOf(inst));
  return (static_cast<uint64_t>(*value) << unused) == (~uint64_t{0} << unused);
}

// The operand that the other one, for which `test` holds, is paired with; nullptr if it holds for
// neither.
template <typename Test>
Instruction* Beside(const Instruction* inst, Test test) {
  if (test(inst->operand(1))) return inst->operand(0);
  if (test(inst->operand(0))) return inst->operand(1);
  return nullptr;
}

bool SameOperands(Instruction* inst, RuleContext& context, std::string_view rule) {
  return inst->operand(0) == inst->operand(1) &&
         ReplaceByExisting(inst, inst->operand(0), context, rule);
}

bool XorSelf(Instruction* inst, RuleContext& context, std::string_view rule) {
  if (inst->operand(0) != inst->operand(1)) return false;
  Rewrite rewrite(context.gates, rule, inst);
  return rewrite && rewrite.Replace(AddSplatInteger(inst->parent(), inst->shape(), 0));
}

// and with ones, or and xor with zeros.
bool BitwiseIdentity(Instruction* inst, RuleContext& context, std::string_view rule) {
  const auto is_neutral = [&](const Instruction* operand) {
    if (SplatInteger(operand) == std::nullopt) return false;
    if (inst->opcode() != Opcode::kAnd) {
      return context.gates.Holds("or-identity/zero", inst, IsZero(operand));
    }
    return context.gates.Holds("and-identity/all-ones", inst, IsAllOnes(operand));
  };
  Instruction* other = Beside(inst, is_neutral);
  return other != nullptr && ReplaceByExisting(inst, other, context, rule);
}

// and with zeros, or with ones: the constant.
bool BitwiseAbsorber(Instruction* inst, RuleContext& context, std::string_view rule) {
  for (Instruction* operand : inst->operands()) {
    if (SplatInteger(operand) == std::nullopt) continue;
    const bool absorbs = inst->opcode() == Opcode::kAnd
                             ? context.gates.Holds("and-zero/zero", inst, IsZero(operand))
                             : context.gates.Holds("or-ones/all-ones", inst, IsAllOnes(operand));
    if (absorbs && ReplaceByExisting(inst, operand, context, rule)) return true;
  }
  return false;
}

bool XorOnes(Instruction* inst, RuleContext& context, std::string_view rule) {
  Instruction* other = Beside(inst, [&](const Instruction* operand) {
    return SplatInteger(operand) != std::nullopt &&
           context.gates.Holds("xor-ones/all-ones", inst, IsAllOnes(operand));
  });
  return other != nullptr && RewriteTo(inst, context, rule, Opcode::kNot, {other});
}

bool ShiftByZero(Instruction* shift, RuleContext& context, std::string_view rule) {
  return context.gates.Holds("shift-by-zero/zero", shift, IsZero(shift->operand(1))) &&
         ReplaceByExisting(shift, shift->operand(0), context, rule);
}

// A logical shift by the width or more, read without sign, leaves nothing.
bool ShiftTooFar(Instruction* shift, RuleContext& context, std::string_view rule) {
  const std::optional<int64_t> amount = SplatInteger(shift->operand(1));
  const bool too_far = amount && (*amount < 0 || *amount >= BitWidth(TypeOf(shift)));
  if (!amount || !context.gates.Holds("shift-too-far/width-reached", shift, too_far)) return false;
  Rewrite rewrite(context.gates, rule, shift);
  return rewrite && rewrite.Replace(AddSplatInteger(shift->parent(), shift->shape(), 0));
}

// The integer (u64 as its bits) that lies at the lower (upper) end of the type.
bool IsLowest(const Instruction* inst) {
  if (const std::optional<double> real = SplatFloat(inst)) {
    return *real == -std::numeric_limits<double>::infinity();
  }
  return SplatInteger(inst) == MinInteger(TypeOf(inst));
}
bool IsHighest(const Instruction* inst) {
  if (const std::optional<double> real = SplatFloat(inst)) {
    return *real == std::numeric_limits<double>::infinity();
  }
  if (TypeOf(inst) == ElementType::kU64) return SplatInteger(inst) == -1;
  return SplatInteger(inst) == MaxInteger(TypeOf(inst));
}

// maximum with the lowest value, minimum with the highest. Floats too: NaN and zeros pass as they
// are.
bool ExtremeIdentity(Instruction* inst, RuleContext& context, std::string_view rule) {
  Instruction* other = Beside(inst, [&](const Instruction* operand) {
    return inst->opcode() == Opcode::kMaximum
               ? context.gates.Holds("maximum-identity/lowest", inst, IsLowest(operand))
               : context.gates.Holds("minimum-identity/highest", inst, IsHighest(operand));
  });
  return other != nullptr && ReplaceByExisting(inst, other, context, rule);
}

// maximum with the highest value, minimum with the lowest. Not floats: NaN wins over infinity.
bool ExtremeAbsorber(Instruction* inst, RuleContext& context, std::string_view rule) {
  const bool is_maximum = inst->opcode() == Opcode::kMaximum;
  if (!context.gates.Holds(is_maximum ? "maximum-absorber/not-float" : "minimum-absorber/not-float",
                           inst, !IsFloat(TypeOf(inst)))) {
    return false;
  }
  for (Instruction* operand : inst->operands()) {
    const bool absorbs = is_maximum ? IsHighest(operand) : IsLowest(operand);
    if (absorbs && ReplaceByExisting(inst, operand, context, rule)) return true;
  }
  return false;
}

// The result of the inner clamp lies within the bounds already. If the lower bound is above the
// upper one both give the upper.
bool ClampOfClamp(Instruction* clamp, RuleContext& context, std::string_view rule) {
  Instruction* inner = clamp->operand(1);
  return inner->opcode() == Opcode::kClamp &&
         context.gates.Holds("clamp-of-clamp/same-low", clamp,
                             SameValue(clamp->operand(0), inner->operand(0))) &&
         context.gates.Holds("clamp-of-clamp/same-high", clamp,
                             SameValue(clamp->operand(2), inner->operand(2))) &&
         ReplaceByExisting(clamp, inner, context, rule);
}

bool ClampOneSided(Instruction* clamp, RuleContext& context, std::string_view rule) {
  Instruction *low = clamp->operand(0), *high = clamp->operand(2);
  const bool no_low = context.gates.Holds("clamp-one-sided/low-at-end", clamp, IsLowest(low));
  const bool no_high = context.gates.Holds("clamp-one-sided/high-at-end", clamp, IsHighest(high));
  if (no_low && no_high) return ReplaceByExisting(clamp, clamp->operand(1), context, rule);
  if (!no_low && !no_high) return false;
  Instruction* bound = no_low ? high : low;
  Rewrite rewrite(context.gates, rule, clamp);
  if (!rewrite) return false;
  if (!SameDimensions(bound->shape(), clamp->shape())) {
    bound = AddSplat(clamp->parent(), clamp->shape(), bound);
  }
  return ReplaceByNew(rewrite, clamp, no_low ? Opcode::kMinimum : Opcode::kMaximum,
                      {clamp->operand(1), bound});
}

constexpr Rule kRules[] = {
    {"and-self", Opcode::kAnd, SameOperands, "x and x -> x"},
    {"or-self", Opcode::kOr, SameOperands, "x or x -> x"},
    {"xor-self", Opcode::kXor, XorSelf, "x xor x -> 0"},
    {"and-identity", Opcode::kAnd, BitwiseIdentity, "x and ones -> x"},
    {"or-identity", Opcode::kOr, BitwiseIdentity, "x or 0 -> x"},
    {"xor-identity", Opcode::kXor, BitwiseIdentity, "x xor 0 -> x"},
    {"and-zero", Opcode::kAnd, BitwiseAbsorber, "x and 0 -> 0"},
    {"or-ones", Opcode::kOr, BitwiseAbsorber, "x or ones -> ones"},
    {"xor-ones", Opcode::kXor, XorOnes, "x xor ones -> not x"},
    {"shift-by-zero", Opcode::kShiftLeft, ShiftByZero, "x << 0 -> x"},
    {"shift-by-zero", Opcode::kShiftRightLogical, ShiftByZero, "x >> 0 -> x"},
    {"shift-by-zero", Opcode::kShiftRightArithmetic, ShiftByZero, "x >> 0 -> x"},
    {"shift-too-far", Opcode::kShiftLeft, ShiftTooFar, "x << width or more -> 0"},
    {"shift-too-far", Opcode::kShiftRightLogical, ShiftTooFar, "x >> width or more -> 0"},
    {"maximum-self", Opcode::kMaximum, SameOperands, "max(x, x) -> x"},
    {"minimum-self", Opcode::kMinimum, SameOperands, "min(x, x) -> x"},
    {"maximum-identity", Opcode::kMaximum, ExtremeIdentity, "max(x, lowest) -> x"},
    {"minimum-identity", Opcode::kMinimum, ExtremeIdentity, "min(x, highest) -> x"},
    {"maximum-absorber", Opcode::kMaximum, ExtremeAbsorber, "max(x, highest) -> highest"},
    {"minimum-absorber", Opcode::kMinimum, ExtremeAbsorber, "min(x, lowest) -> lowest"},
    {"clamp-of-clamp", Opcode::kClamp, ClampOfClamp, "two clamps by one pair of bounds -> one"},
    {"clamp-one-sided", Opcode::kClamp, ClampOneSided,
     "clamp by the type's own ends -> minimum, maximum or the operand"},
};

}  // namespace

absl::Span<const Rule> LogicRules() { return kRules; }

}  // namespace assay
