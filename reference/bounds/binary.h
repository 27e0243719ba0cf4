// Bounds of the element-wise binary ops: the range of each op over the ranges of its operands.
#pragma once

#include "reference/bounds/elements.h"
#include "reference/bounds/float_loop.h"
#include "reference/bounds/rewrite_error.h"
#include "reference/scalar/binary_ops.h"
#include "reference/scalar/compare.h"
#include "reference/values/elementwise.h"

namespace assay::reference {

// A bound rule has the op's meaning `Op` and
//   static Range<W> Finite(a, b): the real values of the op over two finite intervals;
//   kView, kConsumer, kRounds (correctly rounded results), kFunction (an ulp budget).
struct BoundRule {
  static constexpr View kView = View::kNone;
  static constexpr Consumer kConsumer = Consumer::kOther;
  static constexpr bool kRounds = true;
  static constexpr bool kIsFunction = false;
};

struct AddBound : BoundRule {
  using Op = Add;
  static constexpr Consumer kConsumer = Consumer::kSum;
  template <typename W>
  static Range<W> Finite(const Range<W>& a, const Range<W>& b) {
    return {a.centre + b.centre,
            a.radius + b.radius + (std::fabs(a.centre) + std::fabs(b.centre)) * kSlop<W>, 0};
  }
};

struct SubtractBound : BoundRule {
  using Op = Subtract;
  static constexpr Consumer kConsumer = Consumer::kSum;
  template <typename W>
  static Range<W> Finite(const Range<W>& a, const Range<W>& b) {
    return {a.centre - b.centre,
            a.radius + b.radius + (std::fabs(a.centre) + std::fabs(b.centre)) * kSlop<W>, 0};
  }
};

struct MultiplyBound : BoundRule {
  using Op = Multiply;
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
  // Infinities by the signs of both, NaN for 0 / 0.
  template <typename W>
  static Range<W> ByZero(const Range<W>& a, const Range<W>& zero) {
    uint32_t flags = kNotFinite;
    if (a.Contains(0)) flags |= kMayBeNan;
    const bool either = (zero.flags & kZeroSignFree) != 0;
    const bool negative = std::signbit(zero.centre);
    if (a.high() > 0) flags |= negative ? kMayBeNegInf : kMayBePosInf;
    if (a.low() < 0) flags |= negative ? kMayBePosInf : kMayBeNegInf;
    if (either && (a.high() > 0 || a.low() < 0)) flags |= kMayBePosInf | kMayBeNegInf;
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
  static constexpr bool kRounds = false;
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
  static constexpr bool kIsFunction = true;
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
    // Of either sign: only whole exponents, and no pole inside.
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
  static constexpr bool kIsFunction = true;
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

struct MaximumBound : BoundRule {
  using Op = Maximum;
  static constexpr bool kRounds = false;
  template <typename W>
  static Range<W> Finite(const Range<W>& a, const Range<W>& b) {
    if (a.low() >= b.high()) return {a.centre, a.radius, 0};
    if (b.low() >= a.high()) return {b.centre, b.radius, 0};
    Range<W> x = Range<W>::Hull(std::max(a.low(), b.low()), std::max(a.high(), b.high()));
    x.radius += (std::fabs(x.centre) + x.radius) * kSlop<W>;
    return x;
  }
};

struct MinimumBound : BoundRule {
  using Op = Minimum;
  static constexpr bool kRounds = false;
  template <typename W>
  static Range<W> Finite(const Range<W>& a, const Range<W>& b) {
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
  // NaN and infinities do not always spread in a power: pow(NaN, 0) is 1.
  const bool special = ((a.flags | b.flags) & ~uint32_t{kZeroSignFree}) != 0;
  if (std::is_same_v<Rule, PowerBound> && special) return Range<W>::Unknown();
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

inline bool IsPowerOfTwo(double x) {
  return (std::bit_cast<uint64_t>(x) << 12) == 0 && std::isnormal(x);
}
inline bool IsPowerOfTwo(long double x) {
  return static_cast<double>(x) == x && IsPowerOfTwo(static_cast<double>(x));
}

// Scaling by a power of two is exact and folds away: a product that may reach an addition unrounded
// may do so through it, as through a negation. True when that was all there is to say.
template <typename Rule, typename T>
bool BoundScaledProduct(const OpContext& op, Array& result, int64_t i) {
  using W = Wide<T>;
  if constexpr (std::is_same_v<Rule, MultiplyBound> || std::is_same_v<Rule, DivideBound>) {
    if (!op.freedoms.contract || kIsNarrow<T> || AllCertain(op)) return false;
    if (std::is_same_v<Rule, DivideBound> && DividesByRoot(op)) return false;
    const Range<W> a = Seen<T>(op.freedoms, op.array(0), i, Consumer::kSum);
    const Range<W> b = Seen<T>(op.freedoms, op.array(1), i, Consumer::kSum);
    const bool forced = Seen<T>(op.freedoms, op.array(0), i).Single() &&
                        Seen<T>(op.freedoms, op.array(1), i).Single();
    const bool scaled_a = b.Single() && b.HasFinite() && IsPowerOfTwo(b.centre) && !a.Single();
    const bool scaled_b = std::is_same_v<Rule, MultiplyBound> && a.Single() && a.HasFinite() &&
                          IsPowerOfTwo(a.centre) && !b.Single();
    if (!forced || (!scaled_a && !scaled_b)) return false;
    FinishSingle<T>(op.freedoms, result, i, RangeOf<Rule>(a, b), View::kSum);
    return true;
  }
  return false;
}

// Operands that are single numbers, at least one of them subnormal and perhaps read as zero. True
// when that was the case.
template <typename Rule, typename T>
bool BoundFlushedOperands(const OpContext& op, Array& result, int64_t i, double ulps) {
  using W = Wide<T>;
  if (!op.freedoms.flush) return false;
  const bool a = IsFlushable<T>(op.freedoms, op.array(0), i);
  const bool b = IsFlushable<T>(op.freedoms, op.array(1), i);
  if (!a && !b) return false;
  for (int64_t k : {0, 1}) {
    const Array& operand = op.array(k);
    if (!operand.bounds.empty() && operand.bounds[i].flags != kForced) return false;
  }
  Alternatives<T> values;
  for (W x : WithZero<W>(Widen<W>(op.literal(0).data<T>()[i]), a))
    for (W y : WithZero<W>(Widen<W>(op.literal(1).data<T>()[i]), b))
      values.AddPoint(Rule::Op::template Real<W>(x, y), ulps);
  values.Finish(result, i);
  return true;
}

// A number times itself: both factors are the same, whatever it is.
template <typename Rule>
bool IsSquare(const OpContext& op) {
  return std::is_same_v<Rule, MultiplyBound> &&
         op.instruction.operand(0) == op.instruction.operand(1);
}

// Stores the square of an interval about zero: from exactly zero on, so that its root is a number.
// False for any other.
template <typename T>
bool BoundSquareAboutZero(const OpContext& op, Array& result, int64_t i, const Range<Wide<T>>& x) {
  using W = Wide<T>;
  if (x.flags != 0 || x.radius == 0 || x.low() > 0 || x.high() < 0) return false;
  const W largest = std::max(-x.low(), x.high()) * (1 + kSlop<W>);
  const W high = Rounded<T>(Range<W>{largest * largest, 0, 0}, 0).high() * (1 + kSlop<W>);
  if (!(high < OverflowThreshold<T>())) return false;
  // A double, so that centre and radius are the same number.
  const W half = std::nextafter(static_cast<double>(high / 2), HUGE_VAL);
  Store(result, i, Range<W>{half, half, kZeroSignFree},
        op.freedoms.flush && kFlushes<T> ? uint32_t{kMayFlush} : 0);
  return true;
}

// Power of operands that may be flushed. A base that is read as zero by one part of an
// implementation may be raised as a number below all others by the next: XLA:CPU gives 2^-75, the
// square root of 2^-150, for that of a subnormal number. So what the base may be is it, zero, and
// what lies between it and half the smallest number; the power is monotone there.
template <typename T>
bool BoundFlushedPower(const OpContext& op, Array& result, int64_t i, double ulps) {
  using W = Wide<T>;
  const bool base = IsFlushable<T>(op.freedoms, op.array(0), i);
  const bool exponent = IsFlushable<T>(op.freedoms, op.array(1), i);
  if (!base && !exponent) return false;
  for (int64_t k = 0; k < 2; ++k)
    if (!op.array(k).bounds.empty() && op.array(k).bounds[i].flags != kForced) return false;
  const W x = Widen<W>(op.literal(0).data<T>()[i]), y = Widen<W>(op.literal(1).data<T>()[i]);
  // bf16 is computed in f32.
  using Computed = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const W half_smallest = std::copysign(static_cast<W>(UlpAt<Computed>(0) / 4), x);
  Alternatives<T> values;
  for (W power : WithZero<W>(y, exponent)) {
    const W bases[] = {x, std::copysign(W{0}, x), half_smallest};
    for (int k = 0; k < (base ? 3 : 1); ++k) {
      values.AddPoint(Power::Real<W>(bases[k], power),
                      PowerBound::IsExactAt(bases[k], power) ? 0 : ulps);
    }
  }
  values.Finish(result, i);
  return true;
}

// A quotient whose divisor may be read as zero beside what else it is: infinities or NaN beside
// numbers, not all that lies between. False where it may not.
template <typename T>
bool BoundQuotientByFlushed(const OpContext& op, Array& result, int64_t i) {
  using W = Wide<T>;
  if (!op.freedoms.flush) return false;
  const SeenApart<T> divisor(op.freedoms, op.array(1), i);
  if (!divisor.or_zero || divisor.x.Undecided() || !divisor.x.HasFinite()) return false;
  if (divisor.x.Contains(0)) return false;
  const bool by_reciprocal = op.freedoms.reciprocal && op.rewrites.divisor_is_invariant;
  if (!by_reciprocal && BoundFlushedOperands<DivideBound, T>(op, result, i, 0)) return true;
  const Range<W> a = Seen<T>(op.freedoms, op.array(0), i);
  if (a.Undecided() || !a.HasFinite()) return false;
  Range<W> x = RangeOf<DivideBound>(a, divisor.x);
  if (x.Undecided()) return false;
  if (by_reciprocal) {
    x.radius += ReciprocalError<T>(a, divisor.x, x);
    // The reciprocal of the smallest numbers is infinite.
    if (1 / (std::fabs(divisor.x.centre) - divisor.x.radius) >= OverflowThreshold<T>())
      x = HullOf(x, DivideBound::ByZero(a, divisor.zero));
  }
  if (DividesByRoot(op)) x.radius += RootError<T>(op, a, divisor.x, x);
  if (MayBeRewritten(op)) x.radius += RewriteError<T>(op, a, divisor.x, x);
  x = Rounded<T>(HullOf(x, DivideBound::ByZero(a, divisor.zero)), 0);
  Store(result, i, x, TouchesSubnormals<T>(x) ? uint32_t{kMayFlush} : 0);
  return true;
}

template <typename Rule>
inline constexpr bool kIsShift =
    std::is_same_v<Rule, AddBound> || std::is_same_v<Rule, SubtractBound>;
template <typename Rule>
inline constexpr bool kMayBeRewritten =
    kIsShift<Rule> || std::is_same_v<Rule, MultiplyBound> || std::is_same_v<Rule, DivideBound>;

template <typename Rule, typename T>
void BoundBinaryElement(const OpContext& op, Array& result, int64_t i, double ulps) {
  using W = Wide<T>;
  if constexpr (std::is_same_v<Rule, Atan2Bound> || std::is_same_v<Rule, RemainderBound>) {
    if (BoundFlushedOperands<Rule, T>(op, result, i, ulps)) return;
  }
  if constexpr (std::is_same_v<Rule, PowerBound>) {
    if (BoundFlushedPower<T>(op, result, i, ulps)) return;
  }
  if constexpr (std::is_same_v<Rule, DivideBound>) {
    if (BoundQuotientByFlushed<T>(op, result, i)) return;
  }
  const Range<W> a = Seen<T>(op.freedoms, op.array(0), i, Rule::kConsumer);
  const Range<W> b = Seen<T>(op.freedoms, op.array(1), i, Rule::kConsumer);
  const bool single = a.Single() && b.Single();
  const bool is_rewritten = MayBeRewritten(op);
  if constexpr (kMayBeRewritten<Rule>) {
    if (is_rewritten && MayEscape<T>(op, a, b)) return Store(result, i, Range<W>::Unknown(), 0);
  }
  if (single && BoundScaledProduct<Rule, T>(op, result, i)) return;
  if constexpr (kMayBeRewritten<Rule>) {
    const bool by_root = std::is_same_v<Rule, DivideBound> && DividesByRoot(op);
    const bool by_reciprocal = std::is_same_v<Rule, DivideBound> && op.freedoms.reciprocal &&
                               op.rewrites.divisor_is_invariant &&
                               !(single && IsPowerOfTwo(b.centre));
    const bool is_product = !kIsShift<Rule>;
    if ((by_root || by_reciprocal || is_rewritten) && a.HasFinite() && b.HasFinite() &&
        !(single && is_product && (b.centre == 0 || a.centre == 0))) {
      Range<W> x = RangeOf<Rule>(a, b);
      if (by_reciprocal && !x.Undecided()) x.radius += ReciprocalError<T>(a, b, x);
      if (by_root && !x.Undecided()) x.radius += RootError<T>(op, a, b, x);
      if (is_rewritten && !x.Undecided()) x.radius += RewriteError<T>(op, a, b, x);
      x = Rounded<T>(x, 0);
      Store(result, i, x, op.freedoms.flush && TouchesSubnormals<T>(x) ? uint32_t{kMayFlush} : 0);
      return;
    }
  }
  if (single) {
    if constexpr (Rule::kIsFunction) {
      const W p = Widen<W>(op.literal(0).data<T>()[i]), q = Widen<W>(op.literal(1).data<T>()[i]);
      if (Rule::IsExactAt(p, q)) return;
    } else {
      Range<W> exact{0, 0, kNotFinite};
      if (a.HasFinite() && b.HasFinite()) {
        exact = {Rule::Op::template Real<W>(a.centre, b.centre), 0, 0};
        if constexpr (std::is_same_v<T, double> && std::is_same_v<Rule, MultiplyBound>) {
          // The product of two doubles does not fit long double: its last bits are in the radius.
          const double plain = result.literal.data<double>()[i];
          if (std::isfinite(plain) &&
              std::fma(static_cast<double>(a.centre), static_cast<double>(b.centre), -plain) == 0 &&
              std::fabs(plain) > 0x1p-900) {
            exact.centre = plain;
          } else {
            exact.radius = std::fabs(exact.centre) * kSlop<W>;
          }
        }
        if (!std::isfinite(exact.centre)) exact.flags |= kNotFinite;
      }
      FinishSingle<T>(op.freedoms, result, i, exact, Rule::kView);
      return;
    }
  }
  if (IsSquare<Rule>(op) && BoundSquareAboutZero<T>(op, result, i, a)) return;
  const Range<W> x = RangeOf<Rule>(a, b);
  if constexpr (Rule::kIsFunction) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    FinishFunction<T>(op.freedoms, result, i, x, ulps, -kInfinity, kInfinity);
  } else if constexpr (Rule::kRounds) {
    FinishRounded<T>(op.freedoms, result, i, x, Rule::kView);
  } else if constexpr (std::is_same_v<Rule, RemainderBound>) {
    FinishStep<T>(op.freedoms, result, i, x);
  } else {
    FinishExact<T>(op.freedoms, result, i, x);
  }
}

// Whether the op leaves an element no choice where its operands do not and nothing may be flushed.
template <typename Rule>
bool AddsNoFreedom(const OpContext& op) {
  if (Rule::kIsFunction) return false;
  if (Rule::kView == View::kSum && op.freedoms.contract) return false;
  if (MayBeRewritten(op)) return false;
  return !std::is_same_v<Rule, DivideBound> ||
         !((op.rewrites.divisor_is_invariant && op.freedoms.reciprocal) || DividesByRoot(op));
}

// Whether the operands' elements in [begin, end) are forced and neither they nor the results may be
// flushed: then there is nothing to say of the results of an op that adds no freedom.
template <typename T>
bool IsPlainBlock(const OpContext& op, const Array& result, int64_t begin, int64_t end) {
  for (int64_t k : {0, 1}) {
    const std::vector<ElementBound>& bounds = op.array(k).bounds;
    if (bounds.empty()) continue;
    uint32_t different = 0;
    for (int64_t i = begin; i < end; ++i) different |= bounds[i].flags ^ uint32_t{kForced};
    if (different != 0) return false;
  }
  if (!op.freedoms.flush || !kFlushes<T>) return true;
  constexpr T kTiny = std::numeric_limits<T>::min();
  for (const Literal* literal : {&op.literal(0), &op.literal(1), &result.literal}) {
    const absl::Span<const T> values = literal->data<T>().subspan(begin, end - begin);
    if constexpr (std::is_same_v<T, float>) {
      if (AnySubnormal(values)) return false;
    } else {
      for (T x : values)
        if (std::fabs(x) < kTiny && x != 0) return false;
    }
  }
  return true;
}

template <typename Rule>
inline constexpr bool kHasFloatLoop =
    std::is_same_v<Rule, AddBound> || std::is_same_v<Rule, SubtractBound> ||
    std::is_same_v<Rule, MultiplyBound>;

// The elements in [begin, end).
template <typename Rule, typename T>
void BoundBinaryBlock(const OpContext& op, Array& result, int64_t begin, int64_t end, double ulps) {
  if constexpr (std::is_same_v<T, float> && kHasFloatLoop<Rule>) {
    if (!MayBeRewritten(op)) {
      int special[kBatch];
      for (int64_t at = begin; at < end; at += kBatch) {
        const int count = static_cast<int>(std::min<int64_t>(kBatch, end - at));
        const int specials = BoundFloatBatch<Rule>(op, result, at, count, special);
        for (int k = 0; k < specials; ++k)
          BoundBinaryElement<Rule, T>(op, result, at + special[k], ulps);
      }
      return;
    }
  }
  for (int64_t i = begin; i < end; ++i) BoundBinaryElement<Rule, T>(op, result, i, ulps);
}

template <typename Rule>
absl::Status BoundBinary(const OpContext& op, Array& result) {
  if (!IsFloat(op.type())) return BoundByEnumeration(op, result, EvaluateBinary<typename Rule::Op>);
  DispatchReal(op.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    constexpr int64_t kBlock = 256;
    const bool free = !AddsNoFreedom<Rule>(op);
    const double ulps = UlpsOf<T>(op);
    for (int64_t begin = 0; begin < op.count(); begin += kBlock) {
      const int64_t end = std::min(op.count(), begin + kBlock);
      if constexpr (!kIsNarrow<T>) {
        if (!free && IsPlainBlock<T>(op, result, begin, end)) continue;
      }
      BoundBinaryBlock<Rule, T>(op, result, begin, end, ulps);
    }
  });
  return absl::OkStatus();
}

// Whether a comparison of two ranges may come out as `outcome`.
template <typename W>
bool MayCompare(Direction direction, const Range<W>& a, const Range<W>& b, bool outcome) {
  if (a.Undecided() || b.Undecided()) return true;
  if (((a.flags | b.flags) & kMayBeNan) != 0) {
    if ((direction == Direction::kNe) == outcome) return true;
  }
  static constexpr W kInfinity = std::numeric_limits<W>::infinity();
  auto ends = [](const Range<W>& r, W& low, W& high) {
    low = kInfinity;
    high = -kInfinity;
    if (r.HasFinite()) {
      low = r.low();
      high = r.high();
    }
    if ((r.flags & kMayBePosInf) != 0) {
      low = std::min(low, kInfinity);
      high = kInfinity;
    }
    if ((r.flags & kMayBeNegInf) != 0) {
      low = -kInfinity;
      high = std::max(high, -kInfinity);
    }
    const bool any = r.HasFinite() || (r.flags & (kMayBePosInf | kMayBeNegInf)) != 0;
    return any;
  };
  W a_low, a_high, b_low, b_high;
  if (!ends(a, a_low, a_high) || !ends(b, b_low, b_high)) return false;
  const bool may_be_equal = a_low <= b_high && b_low <= a_high;
  const bool may_be_less = a_low<b_high, may_be_greater = a_high> b_low;
  switch (direction) {
    case Direction::kEq:
      return outcome ? may_be_equal : may_be_less || may_be_greater;
    case Direction::kNe:
      return outcome ? may_be_less || may_be_greater : may_be_equal;
    case Direction::kLt:
      return outcome ? may_be_less : may_be_equal || may_be_greater;
    case Direction::kLe:
      return outcome ? may_be_less || may_be_equal : may_be_greater;
    case Direction::kGt:
      return outcome ? may_be_greater : may_be_equal || may_be_less;
    case Direction::kGe:
      return outcome ? may_be_greater || may_be_equal : may_be_less;
  }
  return true;
}

template <typename W>
bool MayBeNan(const Range<W>& x) {
  return x.Undecided() || (x.flags & kMayBeNan) != 0;
}

template <EvaluateFn kEvaluate>
absl::Status BoundCompare(const OpContext& op, Array& result) {
  const ElementType type = op.literal(0).element_type();
  if (!IsFloat(type)) return BoundByEnumeration(op, result, kEvaluate);
  const Direction direction = DirectionOf(op.instruction);
  const bool total_order = IsTotalOrder(op.instruction);
  // Compared with itself, a value is equal, whatever it is.
  const bool same = op.instruction.operand(0) == op.instruction.operand(1);
  const bool moved_only[2] = {total_order && IsMovedOnly(*op.instruction.operand(0)),
                              total_order && IsMovedOnly(*op.instruction.operand(1))};
  DispatchReal(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t count = op.count();
    for (int64_t i = 0; i < count; ++i) {
      const auto a = Seen<T>(op.freedoms, op.array(0), i);
      const auto b = Seen<T>(op.freedoms, op.array(1), i);
      bool decided = !MayCompare(direction, a, b, true) || !MayCompare(direction, a, b, false);
      if (total_order) {
        // It looks at bits, which only matter to NaN and where the values may be equal.
        const bool by_value =
            decided && !MayBeNan(a) && !MayBeNan(b) && !MayCompare(Direction::kEq, a, b, true);
        decided =
            by_value || (HasKnownCode(op.array(0), i, moved_only[0]) &&
                         HasKnownCode(op.array(1), i, moved_only[1]) &&
                         !IsSeenUnrounded(op.array(0), i) && !IsSeenUnrounded(op.array(1), i));
      } else {
        decided = decided || (a.Single() && b.Single()) || (same && !MayBeNan(a));
      }
      if (!decided) SetCodes(result, i, {0, 1});
    }
  });
  return absl::OkStatus();
}

}  // namespace assay::reference
