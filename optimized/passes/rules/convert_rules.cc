// convert: pairs are merged only when the first loses nothing that the second would have kept.
// Document: operation semantics chapter 8.
#include <cmath>

#include "optimized/passes/rules/rules.h"
#include "optimized/passes/util/rule_util.h"
#include "spec/types/float_format.h"

namespace assay {
namespace {

bool IsExactInteger(ElementType t) { return IsInteger(t) || IsPred(t); }

// Bits of magnitude of an integer type, the sign apart.
int MagnitudeBits(ElementType t) { return IsPred(t) ? 1 : BitWidth(t) - (IsSigned(t) ? 1 : 0); }

// The name of a side condition, and whether it holds.
using Check = std::function<bool(std::string_view claim, bool holds)>;

// Every value of `from` is a value of `to`, and convert takes it there. NaN stays NaN.
bool Embeds(ElementType from, ElementType to, const Check& check) {
  if (IsPred(to)) return IsPred(from);
  if (IsExactInteger(from) && IsExactInteger(to)) {
    return check("convert-of-convert/bits-fit", MagnitudeBits(from) <= MagnitudeBits(to)) &&
           check("convert-of-convert/sign-kept", !IsSigned(from) || IsSigned(to));
  }
  if (!IsFloat(to)) return false;
  const FloatFormat& wide = Format(to);
  if (IsExactInteger(from)) {
    // The smallest value, -2^n, has one significant bit. The largest must not overflow.
    return check("convert-of-convert/integer-exact", MagnitudeBits(from) <= wide.precision()) &&
           std::ldexp(1.0, MagnitudeBits(from)) <= wide.MaxFinite();
  }
  if (!IsFloat(from)) return false;
  const FloatFormat& narrow = Format(from);
  return check("convert-of-convert/precision", narrow.precision() <= wide.precision()) &&
         check("convert-of-convert/no-overflow", narrow.MaxFinite() <= wide.MaxFinite()) &&
         check("convert-of-convert/no-underflow", narrow.MinSubnormal() >= wide.MinSubnormal()) &&
         (!narrow.HasInfinity() || wide.HasInfinity()) && (!narrow.HasNan() || wide.HasNan()) &&
         (!narrow.HasNegativeZero() || wide.HasNegativeZero());
}

// convert(convert(x: a -> b) -> c) is convert(x: a -> c).
bool MergesTo(ElementType a, ElementType b, ElementType c, const Check& check) {
  if (IsComplex(a) || IsComplex(b) || IsComplex(c)) return false;
  // Low bits of the sign or zero extension: whatever b's sign, as long as it keeps as many bits as
  // c.
  if (IsInteger(a) && IsInteger(b) && IsInteger(c) && BitWidth(c) <= BitWidth(b)) return true;
  if (!Embeds(a, b, check)) return false;
  // Out of a float, an integer saturates; out of an integer, it wraps. Both agree only on values
  // that fit.
  if (IsExactInteger(a) && IsFloat(b) && IsInteger(c)) {
    return check("convert-of-convert/saturates-alike", Embeds(a, c, check));
  }
  return true;
}

bool TrivialConvert(Instruction* convert, RuleContext& context, std::string_view rule) {
  return ReplaceByExisting(convert, convert->operand(0), context, rule);
}

bool ConvertOfConvert(Instruction* convert, RuleContext& context, std::string_view rule) {
  Instruction* inner = convert->operand(0);
  if (inner->opcode() != Opcode::kConvert) return false;
  const ElementType from = inner->operand(0)->shape().element_type();
  const Check check = [&](std::string_view claim, bool holds) {
    return context.gates.Holds(claim, convert, holds);
  };
  if (!MergesTo(from, inner->shape().element_type(), convert->shape().element_type(), check)) {
    return false;
  }
  if (from == convert->shape().element_type() && SameShape(convert, inner->operand(0))) {
    return ReplaceByExisting(convert, inner->operand(0), context, rule);
  }
  return RewriteTo(convert, context, rule, Opcode::kConvert, {inner->operand(0)});
}

bool BitcastConvertOfBitcastConvert(Instruction* outer, RuleContext& context,
                                    std::string_view rule) {
  Instruction* inner = outer->operand(0);
  if (inner->opcode() != Opcode::kBitcastConvert) return false;
  return ReplaceByExisting(outer, inner->operand(0), context, rule);
}

constexpr Rule kRules[] = {
    {"trivial-convert", Opcode::kConvert, TrivialConvert, "convert to the same type -> operand"},
    {"convert-of-convert", Opcode::kConvert, ConvertOfConvert,
     "two converts -> one, when the first loses nothing that the second keeps"},
    {"trivial-bitcast-convert", Opcode::kBitcastConvert, TrivialConvert,
     "bitcast-convert to the same type -> operand"},
    {"bitcast-convert-pair", Opcode::kBitcastConvert, BitcastConvertOfBitcastConvert,
     "bitcast-convert there and back -> operand"},
};

}  // namespace

absl::Span<const Rule> ConvertRules() { return kRules; }

}  // namespace assay
