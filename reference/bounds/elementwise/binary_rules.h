// The bounds of the element-wise binary ops as rules, one for each op, with the range of its
// real values and what is special about it.
#pragma once

#include "reference/bounds/elements.h"
#include "reference/bounds/elementwise/rewrite_error.h"
#include "reference/scalar/binary_ops.h"

namespace assay::reference {

// The way from the range of an op's real values to that of its result.
enum class Ending {
  kRounded,   // correctly rounded
  kFunction,  // off by its budget of ulps
  kStep,      // exact, but not of operands in excess precision
  kExact,     // one of the operands, or what lies between them
};

// A bound rule has the op's meaning `Op` and
//   static Range<W> Finite(a, b): the real values of the op over two finite intervals;
//   static bool IsExactAt(a, b), if it ends as a function: whether the result is exact there.
// The rest is as follows unless the rule says otherwise.
struct BoundRule {
  static constexpr View kView = View::kNone;
  static constexpr Consumer kConsumer = Consumer::kOther;
  static constexpr Ending kEnding = Ending::kRounded;
  // Infinities and NaN among the operands give what the op makes of them element by element.
  static constexpr bool kSpreadsSpecials = true;
  // It may be made in another form because of what its operands are (MayBeRewritten).
  static constexpr bool kIsRewritable = false;
  // It is a product or a quotient: zero times anything is zero in every form.
  static constexpr bool kIsProduct = false;
  // Operand 0, or 1, scales the other one exactly if it is a power of two.
  static constexpr bool kFirstScales = false, kSecondScales = false;
  // The result is one of the operands.
  static constexpr bool kChooses = false;
  // Batches of f32 elements are bounded by BoundFloatBatch.
  static constexpr bool kHasFloatLoop = false;

  // Stores the bound of an element that the general rule does not do justice, such as one whose
  // operands may be flushed; false for any other.
  template <typename T>
  static bool Special(const OpContext&, Array&, int64_t, double) {
    return false;
  }
  // True if the op may multiply by the rounded reciprocal of operand 1, or by its reciprocal root.
  static bool ByReciprocal(const OpContext&) { return false; }
  static bool ByRoot(const OpContext&) { return false; }
};

struct AddBound : BoundRule {
  using Op = Add;
  static constexpr bool kIsRewritable = true;
  static constexpr bool kHasFloatLoop = true;
  static constexpr Consumer kConsumer = Consumer::kSum;
  template <typename W>
  static Range<W> Finite(const Range<W>& a, const Range<W>& b) {
    return {a.centre + b.centre,
            a.radius + b.radius + (std::fabs(a.centre) + std::fabs(b.centre)) * kSlop<W>, 0};
  }
};

struct SubtractBound : BoundRule {
  using Op = Subtract;
  static constexpr bool kIsRewritable = true;
  static constexpr bool kHasFloatLoop = true;
  static constexpr Consumer kConsumer = Consumer::kSum;
  template <typename W>
  static Range<W> Finite(const Range<W>& a, const Range<W>& b) {
    return {a.centre - b.centre,
            a.radius + b.radius + (std::fabs(a.centre) + std::fabs(b.centre)) * kSlop<W>, 0};
  }
};

struct MultiplyBound : BoundRule {
  using Op = Multiply;
  static constexpr bool kIsRewritable = true;
  static constexpr bool kIsProduct = true;
  static constexpr bool kFirstScales = true, kSecondScales = true;
  static constexpr bool kHasFloatLoop = true;
  // The product of two doubles does not fit long double: its last bits are in the radius, unless
  // `plain` is exact.
  static Range<long double> ExactOfDoubles(long double a, long double b, double plain) {
    const bool is_plain = std::isfinite(plain) && std::fabs(plain) > 0x1p-900 &&
                          std::fma(static_cast<double>(a), static_cast<double>(b), -plain) == 0;
    if (is_plain) return {plain, 0, 0};
    const long double product = a * b;
    return {product, std::fabs(product) * kSlop<long double>, 0};
  }
  static constexpr View kView = View::kSum;
  template <typename W>
  static Range<W> Finite(const Range<W>& a, const Range<W>& b) {
    const W product = a.centre * b.centre;
    return {product,
            std::fabs(a.centre) * b.radius + std::fabs(b.centre) * a.radius + a.radius * b.radius +
                std::fabs(product) * kSlop<W>,
            0};
  }
};

struct DivideBound : BoundRule {
  using Op = Divide;
  static constexpr bool kIsRewritable = true;
  static constexpr bool kIsProduct = true;
  static constexpr bool kSecondScales = true;
  static bool ByReciprocal(const OpContext& op) {
    return op.clauses.Has(ClauseId::kReciprocalDivision) && op.licensed.divisor_is_invariant;
  }
  static bool ByRoot(const OpContext& op) { return DividesByRoot(op); }
  template <typename T>
  static bool Special(const OpContext& op, Array& result, int64_t i, double ulps);

  // Infinities by the signs of both, NaN for 0 / 0.
  template <typename W>
  static Range<W> ByZero(const Range<W>& range, const Range<W>& zero) {
    uint32_t flags = kNotFinite;
    if (range.Contains(0)) flags |= kMayBeNan;
    const bool either = (zero.flags & kZeroSignFree) != 0;
    const bool negative = std::signbit(zero.centre);
    if (range.high() > 0) flags |= negative ? kMayBeNegInf : kMayBePosInf;
    if (range.low() < 0) flags |= negative ? kMayBePosInf : kMayBeNegInf;
    if (either && (range.high() > 0 || range.low() < 0)) flags |= kMayBePosInf | kMayBeNegInf;
    return {0, 0, flags};
  }
  template <typename W>
  static Range<W> Finite(const Range<W>& a, const Range<W>& b) {
    if (b.centre == 0 && b.radius == 0) return ByZero(a, b);
    const W smallest = std::fabs(b.centre) - b.radius;
    if (!(smallest > 0)) return Range<W>::Unknown();
    const W quotient = a.centre / b.centre;
    return {quotient,
            (a.radius + std::fabs(quotient) * b.radius) / smallest *
                (1 + kSlop<W>)+std::fabs(quotient) * kSlop<W>,
            0};
  }
};

struct RemainderBound : BoundRule {
  using Op = Remainder;
  static constexpr Ending kEnding = Ending::kStep;
  template <typename T>
  static bool Special(const OpContext& op, Array& result, int64_t i, double ulps);
  template <typename W>
  static Range<W> Finite(const Range<W>& a, const Range<W>& b) {
    const W smallest = std::fabs(b.centre) - b.radius;
    if (!(smallest > 0)) return Range<W>::Unknown();
    // While the truncated quotient q is the same everywhere, the remainder is a - q b.
    const W largest = (std::fabs(a.centre) + a.radius) / smallest;
    if (largest < 0x1p40) {
      const W q = std::trunc(a.centre / b.centre);
      const W reach = (a.radius + (std::fabs(q) + 1) * b.radius) +
                      (std::fabs(a.centre) + std::fabs(q * b.centre)) * kSlop<W>;
      const W r = std::fmod(a.centre, b.centre);
      const bool same = std::fabs(r) > reach && std::fabs(b.centre) - std::fabs(r) > reach;
      if (same) return {r, a.radius + std::fabs(q) * b.radius + std::fabs(a.centre) * kSlop<W>, 0};
    }
    // Otherwise it is smaller than either operand, with the sign of the dividend.
    const W limit = std::min(std::fabs(a.centre) + a.radius, std::fabs(b.centre) + b.radius);
    if (a.low() >= 0) return Range<W>::Hull(0, limit);
    if (a.high() <= 0) return Range<W>::Hull(-limit, 0);
    return {0, limit, 0};
  }
};

struct PowerBound : BoundRule {
  using Op = Power;
  static constexpr Ending kEnding = Ending::kFunction;
  static constexpr bool kSpreadsSpecials = false;  // pow(NaN, 0) is 1
  template <typename T>
  static bool Special(const OpContext& op, Array& result, int64_t i, double ulps);
  // Zeros, ones, infinities and NaN have exact results; so does a zero exponent.
  template <typename W>
  static bool IsExactAt(W a, W b) {
    return a == 0 || b == 0 || a == 1 || !std::isfinite(a) || !std::isfinite(b) ||
           (a < 0 && b != std::trunc(b));
  }
  template <typename W>
  static Range<W> Finite(const Range<W>& a, const Range<W>& b) {
    // The sign of a zero base is that of its pole.
    const bool unknown_zero = a.centre == 0 && (a.flags & kZeroSignFree) != 0;
    if (unknown_zero && b.low() < 0) return Range<W>::Unknown();
    if (a.radius == 0 && b.radius == 0) return {std::pow(a.centre, b.centre), 0, 0};
    // A negative base has no real power but the whole ones.
    if (a.high() < 0 && b.radius == 0 && b.centre != std::trunc(b.centre))
      return {0, 0, kNotFinite | kMayBeNan};
    if (a.low() > 0 || (a.low() == 0 && b.low() > 0)) {
      // Monotone in each operand: the extremes are at corners.
      const W corners[] = {std::pow(a.low(), b.low()), std::pow(a.low(), b.high()),
                           std::pow(a.high(), b.low()), std::pow(a.high(), b.high())};
      Range<W> x = Range<W>::Hull(*std::min_element(std::begin(corners), std::end(corners)),
                                  *std::max_element(std::begin(corners), std::end(corners)));
      x.radius += (std::fabs(x.centre) + x.radius) * 4 * kSlop<W>;
      return x;
    }
    // The base may have either sign: only whole exponents, and no pole inside.
    if (b.radius != 0 || b.centre != std::trunc(b.centre) || (b.centre < 0 && a.high() >= 0))
      return Range<W>::Unknown();
    const W first = std::pow(a.low(), b.centre), second = std::pow(a.high(), b.centre);
    W low = std::min(first, second), high = std::max(first, second);
    if (a.high() > 0) low = std::min<W>(low, 0);
    Range<W> x = Range<W>::Hull(low, high);
    x.radius += (std::fabs(x.centre) + x.radius) * 4 * kSlop<W>;
    return x;
  }
};

struct Atan2Bound : BoundRule {
  using Op = Atan2;
  static constexpr Ending kEnding = Ending::kFunction;
  template <typename T>
  static bool Special(const OpContext& op, Array& result, int64_t i, double ulps);
  template <typename W>
  static bool IsExactAt(W y, W x) {
    return std::isnan(x) || std::isnan(y) || (y == 0 && (x > 0 || (x == 0 && !std::signbit(x))));
  }
  template <typename W>
  static Range<W> Finite(const Range<W>& y, const Range<W>& x) {
    const bool known_signs = ((y.flags | x.flags) & kZeroSignFree) == 0;
    if (y.radius == 0 && x.radius == 0 && known_signs)
      return {std::atan2(y.centre, x.centre), 0, 0};
    const W reach = std::hypot(y.radius, x.radius);
    const W nearest = std::hypot(y.centre, x.centre) - reach;
    const bool crosses_cut = x.low() <= 0 && y.low() <= 0 && y.high() >= 0;
    if (!(nearest > 0) || crosses_cut) return {0, W{3.2}, 0};
    return {std::atan2(y.centre, x.centre), (y.radius + x.radius) / nearest, 0};
  }
};

// True if both numbers may be read as zero when they are compared, by flushing: either may be taken
// then, and is handed on as it is. (An interval about zero that is no wider than subnormal numbers
// of f32 comes of flushing.)
template <typename W>
bool MayCompareAsZeros(const Range<W>& a, const Range<W>& b) {
  constexpr W kTiny = std::numeric_limits<float>::min();
  const bool are_small = std::fabs(a.centre) + a.radius < kTiny &&
                         std::fabs(b.centre) + b.radius < kTiny && a.radius + b.radius > 0;
  return are_small && a.Contains(0) && b.Contains(0);
}

// True if which of the two is larger is certain.
template <typename W>
bool AreApart(const Range<W>& a, const Range<W>& b) {
  constexpr W kInfinity = std::numeric_limits<W>::infinity();
  auto low = [](const Range<W>& x) {
    if ((x.flags & kMayBeNegInf) != 0) return -kInfinity;
    return x.HasFinite() ? x.low() : kInfinity;
  };
  auto high = [](const Range<W>& x) {
    if ((x.flags & kMayBePosInf) != 0) return kInfinity;
    return x.HasFinite() ? x.high() : -kInfinity;
  };
  if (a.Undecided() || b.Undecided() || ((a.flags | b.flags) & kMayBeNan) != 0) return false;
  return high(a) < low(b) || high(b) < low(a);
}

struct MaximumBound : BoundRule {
  using Op = Maximum;
  static constexpr bool kChooses = true;
  static constexpr Ending kEnding = Ending::kExact;
  template <typename W>
  static Range<W> Finite(const Range<W>& a, const Range<W>& b) {
    if (MayCompareAsZeros(a, b))
      return Range<W>::Hull(std::min(a.low(), b.low()), std::max(a.high(), b.high()));
    if (a.low() >= b.high()) return {a.centre, a.radius, 0};
    if (b.low() >= a.high()) return {b.centre, b.radius, 0};
    Range<W> x = Range<W>::Hull(std::max(a.low(), b.low()), std::max(a.high(), b.high()));
    x.radius += (std::fabs(x.centre) + x.radius) * kSlop<W>;
    return x;
  }
};

struct MinimumBound : BoundRule {
  using Op = Minimum;
  static constexpr bool kChooses = true;
  static constexpr Ending kEnding = Ending::kExact;
  template <typename W>
  static Range<W> Finite(const Range<W>& a, const Range<W>& b) {
    if (MayCompareAsZeros(a, b))
      return Range<W>::Hull(std::min(a.low(), b.low()), std::max(a.high(), b.high()));
    if (a.low() >= b.high()) return {b.centre, b.radius, 0};
    if (b.low() >= a.high()) return {a.centre, a.radius, 0};
    Range<W> x = Range<W>::Hull(std::min(a.low(), b.low()), std::min(a.high(), b.high()));
    x.radius += (std::fabs(x.centre) + x.radius) * kSlop<W>;
    return x;
  }
};

// The range of a rule over operands that may be special: every combination of "finite", +inf, -inf
// and NaN, a finite interval standing for its ends and zero where the other operand is infinite.
template <typename Rule, typename W>
Range<W> RangeOf(const Range<W>& a, const Range<W>& b) {
  if (a.Undecided() || b.Undecided()) return Range<W>::Unknown();
  Range<W> x{0, 0, kNotFinite};
  if (a.HasFinite() && b.HasFinite()) x = Normalized(Rule::Finite(a, b));
  if ((a.flags | b.flags) == 0) return x;
  const bool special = ((a.flags | b.flags) & ~uint32_t{kZeroSignFree}) != 0;
  if (!Rule::kSpreadsSpecials && special) return Range<W>::Unknown();
  static constexpr W kInfinity = std::numeric_limits<W>::infinity();
  auto specials = [](const Range<W>& r, W(&values)[2]) {
    int n = 0;
    if ((r.flags & kMayBePosInf) != 0) values[n++] = kInfinity;
    if ((r.flags & kMayBeNegInf) != 0) values[n++] = -kInfinity;
    return n;
  };
  auto samples = [](const Range<W>& r, W(&values)[4]) {
    int n = 0;
    if (!r.HasFinite()) return n;
    values[n++] = r.low();
    values[n++] = r.high();
    if (r.Contains(0)) {
      values[n++] = 0;
      values[n++] = -W{0};
    }
    return n;
  };
  if (((a.flags | b.flags) & kMayBeNan) != 0) x.flags |= kMayBeNan;
  auto include = [&x](W p, W q) {
    const W value = Rule::Op::template Real<W>(p, q);
    if (std::isnan(value)) {
      x.flags |= kMayBeNan;
    } else {
      x = HullOf(x, Normalized(Range<W>{value, 0, 0}));
    }
  };
  W a_inf[2], b_inf[2], a_fin[4], b_fin[4];
  const int na = specials(a, a_inf), nb = specials(b, b_inf);
  const int fa = samples(a, a_fin), fb = samples(b, b_fin);
  for (int i = 0; i < na; ++i) {
    for (int j = 0; j < nb; ++j) include(a_inf[i], b_inf[j]);
    for (int j = 0; j < fb; ++j) include(a_inf[i], b_fin[j]);
  }
  for (int j = 0; j < nb; ++j)
    for (int i = 0; i < fa; ++i) include(a_fin[i], b_inf[j]);
  return x;
}

}  // namespace assay::reference
