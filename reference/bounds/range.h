// Sets of real values that an implementation may see or return for one element: an interval and
// flags, with the arithmetic of running error analysis. Design: "Tolerances are derived, not
// guessed".
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "reference/scalar/arithmetic.h"
#include "spec/numerics/expectation.h"

namespace assay::reference {

inline constexpr uint32_t kSpecialFlags =
    kMayBeNan | kMayBePosInf | kMayBeNegInf | kZeroSignFree | kNotFinite | kUndecided;

// The interval [centre - radius, centre + radius] unless kNotFinite, and the values that the
// special flags name.
template <typename W>
struct Range {
  W centre = 0;
  W radius = 0;
  uint32_t flags = 0;

  W low() const { return centre - radius; }
  W high() const { return centre + radius; }
  bool HasFinite() const { return (flags & kNotFinite) == 0; }
  bool Undecided() const { return (flags & kUndecided) != 0; }
  // Only one value is possible; a NaN counts as one.
  bool Single() const {
    if (flags == 0) return radius == 0;
    if (HasFinite() || Undecided()) return false;
    return std::has_single_bit(flags & (kMayBeNan | kMayBePosInf | kMayBeNegInf));
  }
  bool Contains(W x) const { return HasFinite() && low() <= x && x <= high(); }

  // The radius is rounded up: the ends themselves are inside.
  static Range Hull(W low, W high) {
    if (low == high) return {low, 0, 0};
    const W centre = low / 2 + high / 2;
    const W radius = high / 2 - low / 2;
    return {centre, radius + (std::fabs(centre) + radius) * std::numeric_limits<W>::epsilon(), 0};
  }
  static Range Unknown() { return {0, 0, kUndecided}; }
};

// Unit roundoff of the computations on ranges themselves, with room for a few of them.
template <typename W>
inline constexpr W kSlop = std::is_same_v<W, double> ? W{0x1p-50} : W{0x1p-61};

template <typename T>
struct FormatOf;
template <>
struct FormatOf<float> {
  static constexpr int kPrecision = 24, kMinExponent = -126, kMaxExponent = 127;
};
template <>
struct FormatOf<double> {
  static constexpr int kPrecision = 53, kMinExponent = -1022, kMaxExponent = 1023;
};
template <>
struct FormatOf<Half> {
  static constexpr int kPrecision = 11, kMinExponent = -14, kMaxExponent = 15;
};
template <>
struct FormatOf<BFloat16> {
  static constexpr int kPrecision = 8, kMinExponent = -126, kMaxExponent = 127;
};

// 2^exponent; double: normal results only, which all formats narrower than it need.
template <typename W>
W PowerOfTwo(int exponent) {
  if constexpr (std::is_same_v<W, double>) {
    return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
  } else {
    return std::ldexp(W{1}, exponent);
  }
}
// Exponent of the leading bit of a finite value; very small for zero.
inline int LeadingExponent(double x) {
  return static_cast<int>(std::bit_cast<uint64_t>(x) >> 52 & 0x7FF) - 1023;
}
inline int LeadingExponent(long double x) {
  if (x == 0) return -100000;
  return std::ilogb(x);
}

// Smallest normal number of T.
template <typename T>
Wide<T> Tiny() {
  return PowerOfTwo<Wide<T>>(FormatOf<T>::kMinExponent);
}
// Spacing of T at a magnitude that T may hold, or that the wider type may hold in which the clause
// of excess precision keeps values of T: there f16 has numbers far beyond its own largest one.
template <typename T>
Wide<T> UlpAt(Wide<T> magnitude) {
  using F = FormatOf<T>;
  constexpr int kMost = std::max(F::kMaxExponent, FormatOf<float>::kMaxExponent) + 1;
  const int exponent = std::clamp(LeadingExponent(magnitude), F::kMinExponent, kMost);
  return PowerOfTwo<Wide<T>>(exponent - F::kPrecision + 1);
}
// Magnitudes from here on round to infinity.
template <typename T>
Wide<T> OverflowThreshold() {
  using F = FormatOf<T>;
  return PowerOfTwo<Wide<T>>(F::kMaxExponent) * 2 -
         PowerOfTwo<Wide<T>>(F::kMaxExponent - F::kPrecision);
}
// 2^-p: the largest relative error of one rounding.
template <typename T>
Wide<T> UnitRoundoff() {
  return PowerOfTwo<Wide<T>>(-FormatOf<T>::kPrecision);
}

template <typename T>
Range<Wide<T>> Point(T value) {
  using W = Wide<T>;
  const W x = Widen<W>(value);
  if (std::isfinite(x)) return {x, 0, 0};
  if (std::isnan(x)) return {0, 0, kNotFinite | kMayBeNan};
  return {0, 0, kNotFinite | (x > 0 ? kMayBePosInf : kMayBeNegInf)};
}

// Turns an infinite or undefined centre or radius into flags.
template <typename W>
Range<W> Normalized(Range<W> x) {
  if (x.Undecided()) return Range<W>::Unknown();
  if (!x.HasFinite()) return {0, 0, x.flags};
  if (std::isnan(x.centre) || !std::isfinite(x.radius)) return Range<W>::Unknown();
  if (std::isinf(x.centre))
    return {0, 0, x.flags | kNotFinite | (x.centre > 0 ? kMayBePosInf : kMayBeNegInf)};
  return x;
}

// Interval hull and union of the flags.
template <typename W>
Range<W> HullOf(const Range<W>& a, const Range<W>& b) {
  if (a.Undecided() || b.Undecided()) return Range<W>::Unknown();
  const uint32_t flags = (a.flags | b.flags) & ~kNotFinite;
  if (!a.HasFinite() && !b.HasFinite()) return {0, 0, flags | kNotFinite};
  if (!a.HasFinite()) return {b.centre, b.radius, flags};
  if (!b.HasFinite()) return {a.centre, a.radius, flags};
  if (a.centre == b.centre) return {a.centre, std::max(a.radius, b.radius), flags};
  Range<W> hull = Range<W>::Hull(std::min(a.low(), b.low()), std::max(a.high(), b.high()));
  hull.radius += (std::fabs(hull.centre) + hull.radius) * kSlop<W>;
  hull.flags = flags;
  return hull;
}

// True if subnormal values of T may be flushed where the profile says so
// (ClauseId::kFlushSubnormals): those of f16 are normal numbers of the f32 that computes them.
template <typename T>
inline constexpr bool kFlushes = !std::is_same_v<T, Half>;

// True if a nonzero value lies inside that T holds as a subnormal number, with few bits, or not at
// all.
template <typename T>
bool ReachesSubnormals(const Range<Wide<T>>& range) {
  if (!range.HasFinite() || (range.centre == 0 && range.radius == 0)) return false;
  return range.low() < Tiny<T>() && range.high() > -Tiny<T>();
}

// True if a subnormal, nonzero value of T, which might be flushed, lies inside.
template <typename T>
bool TouchesSubnormals(const Range<Wide<T>>& range) {
  return kFlushes<T> && ReachesSubnormals<T>(range);
}

// The range with zero added, if a value inside may be flushed to it.
template <typename T>
Range<Wide<T>> Flushed(const Range<Wide<T>>& range) {
  if (!TouchesSubnormals<T>(range) || range.Contains(0)) return range;
  Range<Wide<T>> hull = range.low() > 0 ? Range<Wide<T>>::Hull(0, range.high())
                                        : Range<Wide<T>>::Hull(range.low(), 0);
  hull.flags = range.flags;
  return hull;
}

// Adds the infinities to which values inside round.
template <typename T>
Range<Wide<T>> FlagOverflow(Range<Wide<T>> x) {
  if (!x.HasFinite()) return x;
  if (x.high() >= OverflowThreshold<T>()) x.flags |= kMayBePosInf;
  if (x.low() <= -OverflowThreshold<T>()) x.flags |= kMayBeNegInf;
  return x;
}

// The type whose range numbers of T have between two ops: that in which the clause of excess
// precision keeps narrow ones.
template <typename T>
using RangeType = std::conditional_t<std::is_same_v<T, double>, double, float>;

// The range without the numbers beyond those of its type, which are infinite: nothing that is
// granted to an op gives f32 or f64 a range of its own.
template <typename T>
Range<Wide<T>> WithinRange(Range<Wide<T>> x) {
  using W = Wide<T>;
  using F = FormatOf<RangeType<T>>;
  if (!x.HasFinite() || x.Undecided()) return x;
  const W limit = OverflowThreshold<RangeType<T>>();
  const W low = x.low(), high = x.high();
  if (high < limit && low > -limit) return x;
  x = FlagOverflow<T>(x);
  if (low >= limit || high <= -limit) return {0, 0, x.flags | kNotFinite};
  const W most =
      PowerOfTwo<W>(F::kMaxExponent) * 2 - PowerOfTwo<W>(F::kMaxExponent - F::kPrecision + 1);
  Range<W> within = Range<W>::Hull(std::max(low, -most), std::min(high, most));
  within.flags = x.flags;
  return within;
}

// The values that the type has of those inside: infinities for what is beyond it.
template <typename T>
Range<Wide<T>> WithOverflow(const Range<Wide<T>>& values) {
  return WithinRange<T>(FlagOverflow<T>(values));
}

// The values that an implementation may return for a real value inside `x` when it is correctly
// rounded (ulps = 0) or off by so many units in the last place from that, as if the type had
// numbers of any size.
template <typename T>
Range<Wide<T>> RoundedToAnySize(Range<Wide<T>> x, double ulps) {
  using W = Wide<T>;
  x = Normalized(x);
  if (!x.HasFinite() || x.Undecided()) return x;
  const W magnitude = std::fabs(x.centre) + x.radius;
  if (magnitude == 0 && ulps == 0) {  // nothing to round
    x.flags |= kZeroSignFree;
    return x;
  }
  const W ulp = UlpAt<T>(magnitude);
  W rounding = ulp / 2;
  // Above a power of two the units are larger.
  if (ulps != 0)
    rounding =
        (static_cast<W>(ulps) + W{0.5}) * UlpAt<T>(magnitude + (static_cast<W>(ulps) + 1) * ulp);
  x.radius += rounding + magnitude * kSlop<W>;
  return x;
}

// Does it in the numbers that the type has.
template <typename T>
Range<Wide<T>> Rounded(const Range<Wide<T>>& values, double ulps) {
  return WithOverflow<T>(RoundedToAnySize<T>(values, ulps));
}

// True if the modulus of a complex number lies within [sqrt(tiny), sqrt(max)].
// UNSPECIFIED(operation semantics 6): quotients where the modulus of dividend, divisor or quotient
// lies outside: the budget of the documents does not hold there.
template <typename T>
bool IsModerate(Wide<T> modulus) {
  using F = FormatOf<T>;
  return modulus >= PowerOfTwo<Wide<T>>(F::kMinExponent / 2) &&
         modulus <= PowerOfTwo<Wide<T>>(F::kMaxExponent / 2);
}

}  // namespace assay::reference
