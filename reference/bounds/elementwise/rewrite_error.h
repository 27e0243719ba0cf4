// The error that other forms of arithmetic, where a profile licenses them, add to the bound of a
// result: reciprocals of divisors and of roots, and the forms of
// reference/values/licensed_forms.h.
#pragma once

#include "reference/bounds/elements.h"

namespace assay::reference {

// The error of multiplying by the rounded reciprocal of a divisor instead of dividing.
template <typename T>
Wide<T> ReciprocalError(const Range<Wide<T>>& dividend, const Range<Wide<T>>& divisor,
                        const Range<Wide<T>>& quotient) {
  using W = Wide<T>;
  const W largest_quotient = std::fabs(quotient.centre) + quotient.radius;
  W error = largest_quotient * UnitRoundoff<T>() * W{1.01};
  // A subnormal reciprocal has an absolute error. (That it may be flushed gives a zero beside the
  // interval.)
  const W smallest_reciprocal = 1 / (std::fabs(divisor.centre) + divisor.radius);
  if (smallest_reciprocal < 2 * Tiny<T>())
    error += (std::fabs(dividend.centre) + dividend.radius) * UlpAt<T>(0);
  return error;
}

// True if the divisor is a square root, so that its reciprocal may be made as one.
inline bool DividesByRoot(const OpContext& op) {
  return op.licensed.divides_by_root && op.clauses.Has(ClauseId::kReciprocalRoot);
}

// The error of multiplying by the reciprocal square root, within its budget, instead of dividing by
// the root, which is rounded.
template <typename T>
Wide<T> RootError(const OpContext& op, const Range<Wide<T>>& dividend,
                  const Range<Wide<T>>& divisor, const Range<Wide<T>>& quotient) {
  using W = Wide<T>;
  const auto ulps = static_cast<W>(UlpsOf<T>(op, Opcode::kRsqrt));
  W error =
      (std::fabs(quotient.centre) + quotient.radius) * UnitRoundoff<T>() * (2 * ulps + 2) * W{1.01};
  // Roots in excess precision have reciprocals that the type holds as subnormals.
  if (1 / (std::fabs(divisor.centre) + divisor.radius) < 2 * Tiny<T>())
    error += (std::fabs(dividend.centre) + dividend.radius) * (ulps + 1) * UlpAt<T>(0);
  return error;
}

// True if the op is a quotient that need not be rounded correctly.
inline bool IsApproximateQuotient(const OpContext& op) {
  return op.instruction.opcode() == Opcode::kDivide && op.type() != ElementType::kF64 &&
         op.clauses.Has(ClauseId::kApproximateQuotients);
}

// True if the op divides by a function whose reciprocal may be made as one.
inline bool InvertsFunction(const OpContext& op) {
  return op.clauses.Has(ClauseId::kExponentials) && op.licensed.InvertsFunction();
}

// True if the op may be made in another form because of what its operands are, or in one that is
// not rounded correctly.
inline bool MayBeRewritten(const OpContext& op) {
  ClauseSet clauses = op.clauses;
  const LicensedForms& rewrites = op.licensed;
  return IsApproximateQuotient(op) ||
         (clauses.Has(ClauseId::kNestedQuotients) && rewrites.quotients > 0) ||
         (clauses.Has(ClauseId::kConstantChains) &&
          (rewrites.scales_twice || rewrites.shifts_twice || rewrites.scale_of_both >= 0)) ||
         (clauses.Has(ClauseId::kExponentials) &&
          (rewrites.joins_exponentials || rewrites.InvertsFunction() || rewrites.is_log_of_root ||
           rewrites.squares_root));
}

// The error of a value that the type holds as a subnormal number, which may be flushed, in units of
// the unit roundoff.
template <typename T>
Wide<T> SubnormalStep(ClauseSet clauses) {
  using W = Wide<T>;
  const bool flushes = clauses.Has(ClauseId::kFlushSubnormals) && kFlushes<T>;
  return (flushes ? static_cast<W>(Tiny<T>()) : static_cast<W>(UlpAt<T>(0))) / UnitRoundoff<T>();
}

// The error of a product or quotient whose second factor was multiplied first by the constant that
// had scaled the first one, where that is so small that the type holds it as a subnormal number.
template <typename T>
Wide<T> EarlyScaleError(const OpContext& op, const Range<Wide<T>>& a, const Range<Wide<T>>& b) {
  using W = Wide<T>;
  const W constant = static_cast<W>(op.licensed.first_scale);
  if (!op.licensed.scales_twice || !(constant > 0) || !std::isfinite(constant)) return 0;
  const W scale = std::max<W>(constant, 1 / constant);
  const W step = SubnormalStep<T>(op.clauses);
  W error = 0;
  auto add = [&](const Range<W>& factor, const Range<W>& other) {
    const W smallest = std::max<W>(std::fabs(factor.centre) - factor.radius, 0);
    if (smallest / scale < 2 * Tiny<T>())
      error += step * (std::fabs(other.centre) + other.radius) * scale;
  };
  add(a, b);
  add(b, a);
  return std::isfinite(error) ? error : 0;
}

// The error of a product of a and b if it is made as that of what they were before they were scaled
// and of the constants: the first may be so small that the type holds it as a subnormal number.
template <typename T>
Wide<T> LateScalesError(const OpContext& op, const Range<Wide<T>>& a, const Range<Wide<T>>& b) {
  using W = Wide<T>;
  const W scale = static_cast<W>(op.licensed.scale_of_both);
  auto smallest = [](const Range<W>& factor) {
    return std::max<W>(std::fabs(factor.centre) - factor.radius, 0);
  };
  const bool may_be_subnormal = smallest(a) * smallest(b) < 2 * Tiny<T>() * std::max<W>(scale, 1);
  return may_be_subnormal && std::isfinite(scale)
             ? std::max<W>(scale, 1) * SubnormalStep<T>(op.clauses)
             : W{0};
}

// The largest magnitude of the logarithm of a number inside that the type holds.
template <typename T>
Wide<T> LargestExponent(const Range<Wide<T>>& values) {
  using W = Wide<T>;
  const W least = UlpAt<T>(0), middle = std::fabs(values.centre);
  return std::max(std::fabs(std::log(std::max<W>(middle - values.radius, least))),
                  std::fabs(std::log(std::max<W>(middle + values.radius, least))));
}

// The error of a power of an exponential when it is made as one exponential, of a product that
// is rounded.
template <typename T>
Wide<T> JoinedPowerError(const OpContext& op, const Range<Wide<T>>& values) {
  using W = Wide<T>;
  if (!op.licensed.raises_exponential || !op.clauses.Has(ClauseId::kExponentials)) return 0;
  if (!values.HasFinite() || values.Undecided()) return 0;
  const auto ulps = static_cast<W>(UlpsOf<T>(op, Opcode::kExponential));
  const W largest = std::fabs(values.centre) + values.radius;
  return (LargestExponent<T>(values) + 2 * ulps + 2) * largest * UnitRoundoff<T>() * W{1.01};
}

// The error of the result x of operands a and b when the op is made in such a form: there an
// operand counts as it was before it was rounded, and other intermediate values are rounded.
template <typename T>
Wide<T> RewriteError(const OpContext& op, const Range<Wide<T>>& a, const Range<Wide<T>>& b,
                     const Range<Wide<T>>& x) {
  using W = Wide<T>;
  auto largest = [](const Range<W>& range) { return std::fabs(range.centre) + range.radius; };
  ClauseSet clauses = op.clauses;
  const LicensedForms& rewrites = op.licensed;
  W units = 0, error = 0;  // of the unit roundoff, relative to x and absolute
  if (clauses.Has(ClauseId::kNestedQuotients)) units += 2 * W{1} * rewrites.quotients;
  if (clauses.Has(ClauseId::kConstantChains) && rewrites.scales_twice) {
    units += 3;
    if (op.instruction.opcode() == Opcode::kMultiply) error += EarlyScaleError<T>(op, a, b);
  }
  if (clauses.Has(ClauseId::kConstantChains) && rewrites.scale_of_both >= 0) {
    units += 4;
    error += LateScalesError<T>(op, a, b);
  }
  if (clauses.Has(ClauseId::kConstantChains) && rewrites.shifts_twice)
    error += largest(a) + largest(b) + static_cast<W>(rewrites.first_shift);
  if (units > 0) {
    // A value that was rounded to a subnormal number, or to zero, has an absolute error from that.
    const bool divides = op.instruction.opcode() == Opcode::kDivide;
    const W step = static_cast<W>(UlpAt<T>(0)) / UnitRoundoff<T>();
    const W smallest = std::max<W>(std::fabs(b.centre) - b.radius, 0);
    if (ReachesSubnormals<T>(a) || a.Contains(0))
      error += step * (divides ? 1 / smallest : largest(b));
    if (ReachesSubnormals<T>(b) || (!divides && b.Contains(0)))
      error += step * (divides ? largest(x) / smallest : largest(a));
  }
  // The exponents may be products that the sum or difference takes unrounded.
  if (clauses.Has(ClauseId::kExponentials) && rewrites.joins_exponentials) {
    units += LargestExponent<T>(a) + LargestExponent<T>(b) + 2;
    // An exponential that is subnormal is off by as many of its ulps.
    const auto ulps = static_cast<W>(UlpsOf<T>(op, Opcode::kExponential));
    if (ReachesSubnormals<T>(x)) error += (ulps + 1) * UlpAt<T>(0) / UnitRoundoff<T>();
  }
  if (clauses.Has(ClauseId::kExponentials) && rewrites.is_log_of_root) error += 1;
  // The number itself; its root was rounded once, and counts twice.
  if (clauses.Has(ClauseId::kExponentials) && rewrites.squares_root) units += 3;
  if (InvertsFunction(op)) {
    const auto ulps = static_cast<W>(UlpsOf<T>(op, rewrites.inverted));
    units += 2 * ulps + 2;
    // The reciprocal may be subnormal; flushed, it gives a zero beside the interval.
    if (1 / largest(b) < 2 * Tiny<T>())
      error += largest(a) * (ulps + 1) * UlpAt<T>(0) / UnitRoundoff<T>();
  }
  if (IsApproximateQuotient(op)) {
    const auto ulps = static_cast<W>(UlpsOf<T>(op));
    units += 2 * ulps;
    if (ReachesSubnormals<T>(x)) error += ulps * UlpAt<T>(0) / UnitRoundoff<T>();
  }
  return (units * largest(x) + error) * UnitRoundoff<T>() * W{1.01};
}

}  // namespace assay::reference
