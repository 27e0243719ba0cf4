// Identities of ops that fold values, per type.
#include "spec/ops/combiners.h"

#include <limits>

#include "spec/types/float_format.h"

namespace assay {
namespace {

bool HasIdentity(Opcode combiner) {
  return IsIdempotent(combiner) || combiner == Opcode::kAdd || combiner == Opcode::kMultiply ||
         combiner == Opcode::kXor;
}

uint64_t ExactIdentity(Opcode combiner, ElementType type) {
  const int width = IsPred(type) ? 1 : BitWidth(type);
  const uint64_t ones = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  const uint64_t least = IsSigned(type) ? ones / 2 + 1 : 0;
  switch (combiner) {
    case Opcode::kMultiply:
      return 1;
    case Opcode::kAnd:
      return ones;
    case Opcode::kMaximum:
      return least;
    case Opcode::kMinimum:
      return ones - least;
    default:
      return 0;
  }
}

double RealIdentity(Opcode combiner, const FloatFormat& format) {
  const double most =
      format.HasInfinity() ? std::numeric_limits<double>::infinity() : format.MaxFinite();
  switch (combiner) {
    case Opcode::kMultiply:
      return 1;
    case Opcode::kMaximum:
      return format.special == SpecialValues::kExponent ? DecodeFloat(format, 0) : -most;
    case Opcode::kMinimum:
      return most;
    default:
      return 0;
  }
}

}  // namespace

Literal IdentityOf(Opcode combiner, ElementType type) {
  Literal identity(Shape::Scalar(type));
  if (IsComplex(type)) {
    const FloatFormat& format = Format(ComponentType(type));
    identity.SetComponentBits(0, EncodeFloat(format, combiner == Opcode::kMultiply ? 1 : 0));
  } else if (IsFloat(type)) {
    identity.SetDouble(0, RealIdentity(combiner, Format(type)));
  } else {
    identity.SetBits(0, ExactIdentity(combiner, type));
  }
  return identity;
}

bool IsIdentity(const Literal& value, Opcode combiner) {
  const ElementType type = value.element_type();
  if (!value.shape().IsScalar() || !HasIdentity(combiner)) return false;
  if (IsComplex(type)) {
    const FloatFormat& format = Format(ComponentType(type));
    const double one = combiner == Opcode::kMultiply ? 1 : 0;
    const bool has_order = combiner != Opcode::kAdd && combiner != Opcode::kMultiply;
    return !has_order && DecodeFloat(format, value.GetComponentBits(0)) == one &&
           DecodeFloat(format, value.GetComponentBits(1)) == 0;
  }
  if (IsFloat(type)) return value.GetDouble(0) == RealIdentity(combiner, Format(type));
  return value.GetBits(0) == IdentityOf(combiner, type).GetBits(0);
}

bool IsIdempotent(Opcode combiner) {
  return combiner == Opcode::kMaximum || combiner == Opcode::kMinimum || combiner == Opcode::kAnd ||
         combiner == Opcode::kOr;
}

}  // namespace assay
