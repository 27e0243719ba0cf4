// Real functions of f64 as formulas over numbers of any kind: F gives the operations. Code
// generation has them emit vectors (double_functions.cc), the runtime has them compute
// (runtime/functions/real_functions.h): both give the same bits. bench/minimax.py derives the
// coefficients; the page on accuracy has the errors. Budgets: operation semantics 1.8.
#pragma once

#include <cstdint>
#include <limits>

namespace assay {

// Claims that planted defects make: that 2^k is a number, that an argument is normal, that it is
// far from the multiples of pi / 2, that it is not huge, that the reduction by multiples of ln 2 is
// exact, that 1 + x is, and that y of x^y is no odd integer.
inline constexpr char kClaimExpOneStep[] = "optimize-kernel/exp-one-step";
inline constexpr char kClaimLogNormal[] = "optimize-kernel/log-normal";
inline constexpr char kClaimAwayFromPi[] = "optimize-kernel/away-from-pi";
inline constexpr char kClaimNotHuge[] = "optimize-kernel/angle-not-huge";
inline constexpr char kClaimExpExact[] = "optimize-kernel/exp-exact";
inline constexpr char kClaimLog1pExact[] = "optimize-kernel/log1p-exact";
inline constexpr char kClaimNotOdd[] = "optimize-kernel/power-not-odd";

// F has the types Number, Integer (64 bits) and Truth, and the operations that are used below.
// MulAdd rounds once. Takes(claim) is false but where a planted defect takes a claim for granted.
// Less and Equal are false for NaN.
template <typename F>
class Formulas {
 public:
  using Number = typename F::Number;
  using Integer = typename F::Integer;
  using Truth = typename F::Truth;

  explicit Formulas(F& operations) : f_(operations) {}

  Number Exp(Number x) {
    // Beyond these every result is infinite, or zero.
    const Reduced e = ReduceExp(Clamp(x, -746, 710));
    return TimesPowerOfTwo(f_.Add(ExpMinusOne(e), f_.Of(1)), e.shifted);
  }

  Number Expm1(Number x) {
    const Reduced e = ReduceExp(Clamp(x, -40, 710));
    const Number p = ExpMinusOne(e);
    // 2^k (p + 1) - 1 = 2^k (p + (1 - 2^-k)).
    Number rest = f_.Sub(f_.Of(1), f_.PowerOfTwo(f_.Minus(f_.Int(0), e.shifted)));
    rest = f_.Select(f_.Less(f_.Of(60), e.k), f_.Of(1), rest);
    return f_.WithSignOf(TimesPowerOfTwo(f_.Add(p, rest), e.shifted), x);
  }

  Number Log(Number x) {
    Number scaled = x, offset = f_.Of(0);
    if (!f_.Takes(kClaimLogNormal)) {
      const Truth subnormal = f_.Less(x, f_.Of(std::numeric_limits<double>::min()));
      scaled = f_.Select(subnormal, f_.Mul(x, f_.Of(0x1p54)), x);
      offset = f_.Select(subnormal, f_.Of(-54), offset);
    }
    const Split parts = SplitSignificand(scaled);
    return LogAtEnds(x, LogOfParts(f_.Add(parts.e, offset), parts.t, f_.Of(0)));
  }

  Number Log1p(Number x) {
    const Number one = f_.Of(1);
    const Number u = f_.Add(x, one);
    const Split parts = SplitSignificand(u);
    // Near one x itself is wanted; elsewhere what 1 + x has lost is added back.
    const Truth near_one = f_.Equal(parts.e, f_.Of(0));
    const Number lost =
        f_.Select(f_.Less(one, x), f_.Sub(one, f_.Sub(u, x)), f_.Sub(x, f_.Sub(u, one)));
    Number rest = f_.Div(lost, u);
    Number t = f_.Select(near_one, x, parts.t);
    rest = f_.Select(near_one, f_.Of(0), rest);
    if (f_.Takes(kClaimLog1pExact)) t = parts.t;
    const Number result = LogAtEnds(u, LogOfParts(parts.e, t, rest));
    return f_.WithSignOf(result, x);
  }

  Number Tanh(Number x) {
    // With 2^k (1 + p) = e^(2 |x|): (p + (1 - 2^-k)) / (p + (1 + 2^-k)). From 22 on it is 1.
    const Reduced e = ReduceExp(Clamp(f_.Add(f_.Abs(x), f_.Abs(x)), 0, 44));
    const Number tail = ExpTail(e);
    const Number p = f_.Add(e.r, tail);
    const Number p_low = f_.Sub(tail, f_.Sub(p, e.r));
    const Number scale = f_.PowerOfTwo(f_.Minus(f_.Int(0), e.shifted));
    const Number one_less = f_.Sub(f_.Of(1), scale), one_more = f_.Add(f_.Of(1), scale);
    const Pair top = SumOf(one_less, p, p_low), bottom = SumOf(one_more, p, p_low);
    return f_.WithSignOf(Quotient(top, bottom), x);
  }

  Number Logistic(Number x) {
    // The exponential of -|x| is at most one: it neither overflows nor loses small results.
    const Number e = Exp(f_.Negate(f_.Abs(x)));
    const Number d = f_.Add(f_.Of(1), e);
    const Number top = f_.Select(f_.Less(x, f_.Of(0)), e, f_.Of(1));
    return Quotient({top, f_.Of(0)}, {d, f_.Add(f_.Sub(f_.Of(1), d), e)});
  }

  Number Erf(Number x) {
    static constexpr double kSmall[] = {
        0.1283791670955126,      -0.3761263890318375,     0.11283791670954885,
        -0.026866170645077875,   0.005223977624828418,    -0.000854832698142469,
        0.00012055331132921467,  -1.4925595771301174e-05, 1.6461008463137513e-06,
        -1.6350396064229962e-07, 1.4660327648590881e-08,  -1.1374951597697729e-09,
        5.960678412477722e-11};
    // log(1 - erf(1 + t)) from 0 to 5.
    static constexpr double kLogComplement[] = {
        -1.8496055099332482,    -2.638967514234788,      -0.8431072563586766,
        -0.041561098041811344,  0.010033825374426606,    -0.0019779025679511,
        0.00023732248131911864, 2.627787633661376e-05,   -2.7159116480391283e-05,
        9.608909106792167e-06,  -2.0597840772852205e-06, 1.4288689786991938e-07,
        9.753951167405214e-08,  -5.203400959499765e-08,  1.491009140730118e-08,
        -2.863707512082239e-09, 3.6819433178226165e-10,  -2.88104177413811e-11,
        1.0388788839884029e-12};
    const Number a = f_.Abs(x);
    const Number small = f_.MulAdd(x, Polynomial(f_.Mul(x, x), kSmall), x);
    const Number t = f_.Sub(Clamp(a, 1, 6), f_.Of(1));
    const Reduced e = ReduceExp(Polynomial(t, kLogComplement));
    const Number complement = f_.Mul(f_.Add(ExpMinusOne(e), f_.Of(1)), f_.PowerOfTwo(e.shifted));
    const Number large = f_.WithSignOf(f_.Sub(f_.Of(1), complement), x);
    return f_.Select(f_.Less(a, f_.Of(1)), small, large);
  }

  Number Sine(Number x) {
    const Angle angle = Reduce(x);
    const Number result = OfQuarter(angle, angle.shifted);
    // The sign of zero is lost in the sum.
    return WithFar("sin", x, f_.Select(f_.Equal(x, f_.Of(0)), x, result));
  }

  Number Cosine(Number x) {
    const Angle angle = Reduce(x);
    const Number result = OfQuarter(angle, f_.Plus(angle.shifted, f_.Int(1)));
    return WithFar("cos", x, result);
  }

  Number Tan(Number x) {
    const Number result = TanOf(Reduce(x));
    return WithFar("tan", x, f_.Select(f_.Equal(x, f_.Of(0)), x, result));
  }

  // The sine and the tangent of quarter pi / 2 + r + low, |r| <= pi / 4.
  Number SineAt(Integer quarter, Number r, Number low) {
    return OfQuarter({quarter, r, low}, quarter);
  }
  Number TanAt(Integer quarter, Number r, Number low) { return TanOf({quarter, r, low}); }

  Number Power(Number x, Number y) {
    const Number a = f_.Abs(x);
    const Pair log = LogInTwoParts(a);
    // Beyond these the result is infinite, or zero; the low part must not make a NaN there.
    const Number product = f_.Mul(y, log.high);
    const Number high = Clamp(product, -746, 710);
    const Number rest = f_.MulAdd(y, log.high, f_.Negate(product));
    const Number low = f_.Select(f_.Equal(high, product), f_.MulAdd(y, log.low, rest), f_.Of(0));
    Reduced e = ReduceExp(high);
    e.r = f_.Add(e.r, low);
    const Number size = TimesPowerOfTwo(f_.Add(ExpMinusOne(e), f_.Of(1)), e.shifted);
    return PowerAtEnds(x, y, PowerOfEnds(a, y, size));
  }

  Number Atan2(Number y, Number x) {
    static constexpr double kArcTangent[] = {
        -0.33333333333333093,    0.19999999999955445,   -0.1428571428280282,
        0.11111111013668296,     -0.0909090711955502,   0.0769228119007958,
        -0.06666415023059266,    0.058805926981956164,  -0.0525380615965375,
        0.04723295315050916,     -0.04221722656630285,  0.03669361927339484,
        -0.02998570522780896,    0.022085303830611396,  -0.013995122011824292,
        0.007263449133113969,    -0.002919387662832881, 0.0008435004819010478,
        -0.00015480045636715738, 1.3489618104132814e-05};
    constexpr double kPi = 3.141592653589793, kPiLow = 1.2246467991473532e-16;
    const Number a = f_.Abs(x), b = f_.Abs(y), zero = f_.Of(0);
    const Truth steep = f_.Less(a, b);
    const Number less = f_.Select(steep, a, b), more = f_.Select(steep, b, a);
    // 0 / 0 is taken as 0, infinity / infinity as 1.
    Number q = f_.Select(f_.Equal(more, zero), zero, f_.Div(less, more));
    const Number infinity = f_.Of(std::numeric_limits<double>::infinity());
    q = f_.Select(f_.Equal(less, infinity), f_.Of(1), q);
    const Number z = f_.Mul(q, q);
    const Number t = f_.MulAdd(f_.Mul(q, z), Polynomial(z, kArcTangent), q);
    // A multiple of pi / 2, from which the small angle is added or taken away.
    const Truth behind = f_.Less(f_.WithSignOf(f_.Of(1), x), zero);
    const auto base = [&](double pi) {
      return f_.Select(steep, f_.Of(pi / 2), f_.Select(behind, f_.Of(pi), zero));
    };
    const Number turned = f_.Select(f_.Same(steep, behind), t, f_.Negate(t));
    const Number sum = f_.Add(base(kPi), f_.Add(base(kPiLow), turned));
    const Number result = f_.WithSignOf(sum, y);
    return f_.Select(f_.Both(f_.Equal(x, x), f_.Equal(y, y)), result, f_.Add(x, y));
  }

  Number Cbrt(Number x) {
    static constexpr double kRoot[] = {0.999999109599982,    0.33331884633809356,
                                       -0.11097412010533621, 0.06233961522898769,
                                       -0.04466463971523405, 0.02653744076456948};
    constexpr double kRootOf2 = 1.2599210498948732, kRootOfHalf = 0.7937005259840998;
    const Number a = f_.Abs(x);
    const Truth subnormal = f_.Less(a, f_.Of(std::numeric_limits<double>::min()));
    const Split parts = SplitSignificand(f_.Select(subnormal, f_.Mul(a, f_.Of(0x1p54)), a));
    // 2^e (1 + t) = 2^(3 k) m, m from sqrt(1/8) to sqrt(8).
    const Number third = f_.Add(f_.Mul(parts.e, f_.Of(1.0 / 3)), f_.Of(kShift));
    const Number over = f_.MulAdd(f_.Sub(third, f_.Of(kShift)), f_.Of(-3), parts.e);
    const Truth one_over = f_.Less(f_.Of(0), over), one_under = f_.Less(over, f_.Of(0));
    const auto choose = [&](double more, double same, double less) {
      return f_.Select(one_over, f_.Of(more), f_.Select(one_under, f_.Of(less), f_.Of(same)));
    };
    const Number m = f_.Mul(f_.Add(parts.t, f_.Of(1)), choose(2, 1, 0.5));
    const Number root = f_.Mul(Polynomial(parts.t, kRoot), choose(kRootOf2, 1, kRootOfHalf));
    // One step of Halley; root^3 - m as if it were not rounded.
    const Number square = f_.Mul(root, root);
    const Number square_low = f_.MulAdd(root, root, f_.Negate(square));
    const Number excess = f_.MulAdd(square_low, root, f_.MulAdd(square, root, f_.Negate(m)));
    const Number slope = f_.Add(f_.Mul(f_.Add(square, square), root), m);
    const Number better = f_.Sub(root, f_.Div(f_.Mul(root, excess), slope));
    const Integer scale = f_.Minus(f_.Bits(third), f_.Select(subnormal, f_.Int(18), f_.Int(0)));
    const Number result = f_.WithSignOf(f_.Mul(better, f_.PowerOfTwo(scale)), x);
    const Truth ordinary =
        f_.Both(f_.Less(f_.Of(0), a), f_.Less(a, f_.Of(std::numeric_limits<double>::infinity())));
    return f_.Select(ordinary, result, x);
  }

 private:
  struct Pair {
    Number high, low;
  };
  // x = k ln 2 + r + low. The low bits of `shifted` are k.
  struct Reduced {
    Integer shifted;
    Number k, r, low;
  };
  // x = k pi / 2 + r + low. The low bits of `shifted` are k.
  struct Angle {
    Integer shifted;
    Number r, low;
  };
  // x = 2^e (1 + t), 1 + t from sqrt(1/2) to sqrt(2).
  struct Split {
    Number e, t;
  };

  // Adding it rounds to an integer and leaves that in the low bits.
  static constexpr double kShift = 0x1.8p52;
  static constexpr double kLog2 = 0.6931471805599453, kLog2Low = 2.3190468138462996e-17;

  // coefficients[0] + x (coefficients[1] + ...)
  template <int kCount>
  Number Polynomial(Number x, const double (&coefficients)[kCount]) {
    Number sum = f_.Of(coefficients[kCount - 1]);
    for (int i = kCount - 2; i >= 0; --i) sum = f_.MulAdd(sum, x, f_.Of(coefficients[i]));
    return sum;
  }

  // NaN fails both comparisons and passes through.
  Number Clamp(Number x, double low, double high) {
    x = f_.Select(f_.Less(f_.Of(high), x), f_.Of(high), x);
    return f_.Select(f_.Less(x, f_.Of(low)), f_.Of(low), x);
  }

  // high + more + low, |high| >= |more| or high = 0.
  Pair SumOf(Number high, Number more, Number low) {
    const Number sum = f_.Add(high, more);
    return {sum, f_.Add(f_.Add(f_.Sub(high, sum), more), low)};
  }

  // top / bottom to little more than half an ulp.
  Number Quotient(Pair top, Pair bottom) {
    const Number inverse = f_.Div(f_.Of(1), bottom.high);
    const Number q = f_.Mul(top.high, inverse);
    const Number rest = f_.MulAdd(f_.Negate(q), bottom.high, top.high);
    const Number low = f_.MulAdd(f_.Negate(q), bottom.low, top.low);
    return f_.MulAdd(f_.Add(rest, low), inverse, q);
  }

  Reduced ReduceExp(Number x) {
    const Number shifted = f_.Add(f_.Mul(x, f_.Of(1.4426950408889634)), f_.Of(kShift));
    const Number k = f_.Sub(shifted, f_.Of(kShift));
    // Exact: both are multiples of 2^-54, and little is left.
    const Number r = f_.MulAdd(k, f_.Of(-kLog2), x);
    if (f_.Takes(kClaimExpExact)) return {f_.Bits(shifted), k, r, f_.Of(0)};
    const Number rounded = f_.MulAdd(k, f_.Of(-kLog2Low), r);
    return {f_.Bits(shifted), k, rounded, f_.MulAdd(k, f_.Of(-kLog2Low), f_.Sub(r, rounded))};
  }

  // e^(r + low) - 1 - r, |r| <= ln 2 / 2.
  Number ExpTail(const Reduced& e) {
    static constexpr double kExp[] = {0.5,
                                      0.16666666666666677,
                                      0.0416666666666667,
                                      0.008333333333321351,
                                      0.0013888888888866342,
                                      0.0001984126988691454,
                                      2.4801587361540497e-05,
                                      2.7557243341577964e-06,
                                      2.75572419137802e-07,
                                      2.5109362908216512e-08,
                                      2.092470587252097e-09};
    return f_.MulAdd(f_.Mul(e.r, e.r), Polynomial(e.r, kExp), e.low);
  }
  Number ExpMinusOne(const Reduced& e) { return f_.Add(e.r, ExpTail(e)); }

  // In two steps, so that 2^k overflows or becomes subnormal only where the result does.
  Number TimesPowerOfTwo(Number x, Integer shifted) {
    if (f_.Takes(kClaimExpOneStep)) return f_.Mul(x, f_.PowerOfTwo(shifted));
    const Integer half = f_.ShiftRight(shifted, 1);
    return f_.Mul(f_.Mul(x, f_.PowerOfTwo(half)), f_.PowerOfTwo(f_.Minus(shifted, half)));
  }

  // x positive and normal.
  Split SplitSignificand(Number x) {
    constexpr uint64_t kRootOfHalf = 0x3FE6A09E667F3BCD, kOne = 0x3FF0000000000000;
    const Integer code = f_.Plus(f_.Bits(x), f_.Int(kOne - kRootOfHalf));
    // An integer below the last place of 2^52 is a number without a conversion.
    const Number biased = f_.FromBits(f_.Or(f_.ShiftRight(code, 52), f_.Int(0x4330000000000000)));
    const Integer m = f_.Plus(f_.And(code, f_.Int(0x000FFFFFFFFFFFFF)), f_.Int(kRootOfHalf));
    return {f_.Sub(biased, f_.Of(0x1p52 + 1023)), f_.Sub(f_.FromBits(m), f_.Of(1))};
  }

  // e ln 2 + log(1 + t) + rest. With s = t / (2 + t): log(1 + t) = 2 s + s z P(z), z = s^2.
  Number LogOfParts(Number e, Number t, Number rest) {
    static constexpr double kLog[] = {0.6666666666666734, 0.3999999999941462, 0.28571428742442234,
                                      0.2222219856268681, 0.181835651344821,  0.1531402330291491,
                                      0.14796284702718143};
    const Number s = f_.Div(t, f_.Add(t, f_.Of(2)));
    const Number z = f_.Mul(s, s);
    const Number half_square = f_.Mul(f_.Mul(t, f_.Of(0.5)), t);
    const Number tail = f_.MulAdd(z, Polynomial(z, kLog), half_square);
    const Number low = f_.MulAdd(s, tail, f_.MulAdd(e, f_.Of(kLog2Low), rest));
    return f_.MulAdd(e, f_.Of(kLog2), f_.Sub(t, f_.Sub(half_square, low)));
  }

  // The results of log at `x` where it is no positive finite number.
  Number LogAtEnds(Number x, Number result) {
    const Number infinity = f_.Of(std::numeric_limits<double>::infinity());
    result = f_.Select(f_.Less(x, infinity), result, x);  // NaN, too
    result = f_.Select(f_.Equal(x, f_.Of(0)), f_.Negate(infinity), result);
    return f_.Select(f_.Less(x, f_.Of(0)), f_.Of(std::numeric_limits<double>::quiet_NaN()), result);
  }

  // log(a), a >= 0, to about 2^-65 of itself.
  Pair LogInTwoParts(Number a) {
    static constexpr double kTail[] = {
        0.40000000000002256, 0.285714285700986, 0.22222222520164425, 0.18181784340890758,
        0.15386758736008052, 0.132567812262611, 0.1319669728980169};
    constexpr double kTwoThirds = 0.6666666666666666, kTwoThirdsLow = 3.700743415417188e-17;
    const Truth subnormal = f_.Less(a, f_.Of(std::numeric_limits<double>::min()));
    const Split parts = SplitSignificand(f_.Select(subnormal, f_.Mul(a, f_.Of(0x1p54)), a));
    const Number e = f_.Add(parts.e, f_.Select(subnormal, f_.Of(-54), f_.Of(0)));
    const Number t = parts.t;
    // s = t / (2 + t), its square and cube, in two parts each.
    const Number d = f_.Add(t, f_.Of(2));
    const Number d_low = f_.Add(f_.Sub(f_.Of(2), d), t);
    const Number inverse = f_.Div(f_.Of(1), d);
    const Number s = f_.Mul(t, inverse);
    const Number s_rest = f_.MulAdd(f_.Negate(s), d_low, f_.MulAdd(f_.Negate(s), d, t));
    const Number s_low = f_.Mul(s_rest, inverse);
    const Number z = f_.Mul(s, s);
    const Number z_low = f_.MulAdd(f_.Add(s, s), s_low, f_.MulAdd(s, s, f_.Negate(z)));
    const Number c = f_.Mul(z, s);
    const Number c_low = f_.MulAdd(z_low, s, f_.MulAdd(z, s_low, f_.MulAdd(z, s, f_.Negate(c))));
    const Number third = f_.Mul(c, f_.Of(kTwoThirds));
    const Number third_low = f_.MulAdd(
        c_low, f_.Of(kTwoThirds),
        f_.MulAdd(c, f_.Of(kTwoThirdsLow), f_.MulAdd(c, f_.Of(kTwoThirds), f_.Negate(third))));
    Number low = f_.MulAdd(f_.Mul(c, z), Polynomial(z, kTail), third_low);
    low = f_.Add(low, f_.Add(s_low, s_low));
    const Pair small = SumOf(f_.Add(s, s), third, low);
    // e ln 2, exact in two parts, is larger than the rest, or zero.
    const Number of_e = f_.Mul(e, f_.Of(kLog2));
    const Number of_e_low =
        f_.MulAdd(e, f_.Of(kLog2Low), f_.MulAdd(e, f_.Of(kLog2), f_.Negate(of_e)));
    const Pair sum = SumOf(of_e, small.high, f_.Add(of_e_low, small.low));
    const Number high = f_.Add(sum.high, sum.low);
    return {high, f_.Add(f_.Sub(sum.high, high), sum.low)};
  }

  // a^y of a >= 0 where a is zero, one or infinite, or y zero or infinite; `result` elsewhere.
  Number PowerOfEnds(Number a, Number y, Number result) {
    const Number zero = f_.Of(0), one = f_.Of(1);
    const Number infinity = f_.Of(std::numeric_limits<double>::infinity());
    const Truth grows = f_.Same(f_.Less(a, one), f_.Less(y, zero));
    const Number limit = f_.Select(grows, infinity, zero);
    const Truth at_end = f_.Either(f_.Equal(a, zero),
                                   f_.Either(f_.Equal(a, infinity), f_.Equal(f_.Abs(y), infinity)));
    result = f_.Select(at_end, limit, result);
    result = f_.Select(f_.Both(f_.Equal(a, one), f_.Equal(y, y)), one, result);
    result = f_.Select(f_.Both(f_.Equal(a, a), f_.Equal(y, y)), result, f_.Add(a, y));
    return f_.Select(f_.Equal(y, zero), one, result);
  }

  // x^y for the size that |x|^y has.
  Number PowerAtEnds(Number x, Number y, Number size) {
    const Number infinity = f_.Of(std::numeric_limits<double>::infinity());
    const Truth whole = f_.Equal(f_.Floor(y), y);
    const Number half = f_.Mul(y, f_.Of(0.5));
    const Truth even = f_.Equal(f_.Floor(half), half);
    const Truth negative = f_.Less(f_.WithSignOf(f_.Of(1), x), f_.Of(0));
    Number result = size;
    if (!f_.Takes(kClaimNotOdd)) {
      const Truth odd = f_.Both(whole, f_.Not(even));
      result = f_.Select(f_.Both(negative, odd), f_.Negate(size), size);
    }
    const Truth below_zero = f_.Both(f_.Less(x, f_.Of(0)), f_.Less(f_.Negate(infinity), x));
    result = f_.Select(f_.Both(below_zero, f_.Not(whole)),
                       f_.Of(std::numeric_limits<double>::quiet_NaN()), result);
    return f_.Select(f_.Equal(x, f_.Of(1)), f_.Of(1), result);
  }

  // `result`, where x is so large that k pi / 2 needs more parts than there are below that of a
  // function which reduces by integers.
  Number WithFar(const char* function, Number x, Number result) {
    if (f_.Takes(kClaimNotHuge)) return result;
    return f_.Library(function, f_.Less(f_.Of(0x1p30), f_.Abs(x)), x, result);
  }

  Angle Reduce(Number x) {
    constexpr double kHalfPi = 1.5707963267948966, kHalfPiLow = 6.123233995736766e-17,
                     kHalfPiLast = -1.4973849048591698e-33;
    const Number shifted = f_.Add(f_.Mul(x, f_.Of(0.6366197723675814)), f_.Of(kShift));
    const Number k = f_.Sub(shifted, f_.Of(kShift));
    // Exact: both are multiples of 2^-53, and little is left.
    const Number first = f_.MulAdd(k, f_.Of(-kHalfPi), x);
    if (f_.Takes(kClaimAwayFromPi)) return {f_.Bits(shifted), first, f_.Of(0)};
    const Number step = f_.Mul(k, f_.Of(kHalfPiLow));
    const Number r = f_.Sub(first, step);
    const Number step_low = f_.MulAdd(k, f_.Of(kHalfPiLow), f_.Negate(step));
    const Number taken = f_.Sub(first, r);
    const Number lost = f_.Sub(f_.Sub(first, f_.Add(r, taken)), f_.Sub(step, taken));
    return {f_.Bits(shifted), r, f_.MulAdd(k, f_.Of(-kHalfPiLast), f_.Sub(lost, step_low))};
  }

  Truth IsOdd(Integer quarter) { return f_.IsSet(f_.And(quarter, f_.Int(1))); }

  // The sine of an angle: high + low, low not rounded away.
  Pair SineOf(const Angle& angle) {
    static constexpr double kSine[] = {-0.16666666666666632,   0.0083333333333223,
                                       -0.0001984126982971041, 2.755731365588123e-06,
                                       -2.505075215112408e-08, 1.5896432985692127e-10};
    const Number z = f_.Mul(angle.r, angle.r);
    const Number flat = f_.MulAdd(z, f_.Of(-0.5), f_.Of(1));  // of the cosine, for the low part
    const Number tail =
        f_.MulAdd(f_.Mul(angle.r, z), Polynomial(z, kSine), f_.Mul(angle.low, flat));
    return SumOf(angle.r, tail, f_.Of(0));
  }

  Pair CosineOf(const Angle& angle) {
    static constexpr double kCosine[] = {0.0416666666666666,     -0.0013888888888873953,
                                         2.4801587289369217e-05, -2.7557314318126144e-07,
                                         2.0875718428666436e-09, -1.1359387645825496e-11};
    const Number z = f_.Mul(angle.r, angle.r);
    const Number half = f_.Mul(z, f_.Of(0.5));
    const Number flat = f_.Sub(f_.Of(1), half);
    const Number lost = f_.Sub(f_.Sub(f_.Of(1), flat), half);
    const Number tail = f_.MulAdd(f_.Mul(z, z), Polynomial(z, kCosine),
                                  f_.MulAdd(f_.Negate(angle.r), angle.low, lost));
    return SumOf(flat, tail, f_.Of(0));
  }

  Number TanOf(const Angle& angle) {
    const Pair sine = SineOf(angle), cosine = CosineOf(angle);
    const Truth odd = IsOdd(angle.shifted);
    const Pair top = {f_.Select(odd, cosine.high, sine.high), f_.Select(odd, cosine.low, sine.low)};
    const Pair bottom = {f_.Select(odd, f_.Negate(sine.high), cosine.high),
                         f_.Select(odd, f_.Negate(sine.low), cosine.low)};
    return Quotient(top, bottom);
  }

  // The sine of an angle that is `quarter` quarters further than its remainder.
  Number OfQuarter(const Angle& angle, Integer quarter) {
    const Number size = f_.Select(IsOdd(quarter), CosineOf(angle).high, SineOf(angle).high);
    const Integer sign = f_.ShiftLeft(f_.And(quarter, f_.Int(2)), 62);
    return f_.FromBits(f_.Xor(f_.Bits(size), sign));
  }

  F& f_;
};

}  // namespace assay
