// Complex functions: evaluated wide, rounded part by part; legal errors are relative to the modulus
// (class NORM of operation semantics 0.3), so both parts of a result get the same radius.
// Documents: operation semantics chapters 5 and 6.
//
// UNSPECIFIED(operation semantics 5): results of infinite or NaN parts, unless the documents say
// what they are.
#include "reference/bounds/components.h"
#include "reference/bounds/elements.h"
#include "reference/scalar/complex_ops.h"
#include "reference/values/complex_types.h"
#include "reference/values/elementwise.h"
#include "spec/ops/op_table.h"

namespace assay::reference {
namespace {

template <typename Op>
absl::Status EvaluateUnaryFunction(const OpContext& op, Literal& result) {
  DispatchComplex(op.type(), [&](auto tag) {
    using C = typename decltype(tag)::type;
    using W = std::complex<Wide<typename C::value_type>>;
    MapUnary<C>(op.literal(0), result, [](C z) { return C(Op::Value(W(z))); });
  });
  return absl::OkStatus();
}

template <typename Op>
absl::Status EvaluateBinaryFunction(const OpContext& op, Literal& result) {
  DispatchComplex(op.type(), [&](auto tag) {
    using C = typename decltype(tag)::type;
    using W = std::complex<Wide<typename C::value_type>>;
    MapBinary<C>(op.literal(0), op.literal(1), result,
                 [](C x, C y) { return C(Op::Value(W(x), W(y))); });
  });
  return absl::OkStatus();
}

double BudgetOf(const OpContext& op) {
  const NumericContract& contract = Info(op.instruction.opcode()).numeric;
  return op.analysis.is_xla ? contract.xla.complex : contract.strict.complex;
}

// One complex element as an op may read it: the ranges of both parts, which may be infinite, NaN or
// not known.
template <typename T>
struct ComplexOperand {
  using W = Wide<T>;
  Range<W> real, imaginary;

  ComplexOperand(const OpContext& op, const Array& components, int64_t i)
      : real(Seen<T>(op.clauses, components, 2 * i)),
        imaginary(Seen<T>(op.clauses, components, 2 * i + 1)) {}
  // True if both parts are numbers.
  bool IsFinite() const {
    constexpr uint32_t kNotNumbers =
        kNotFinite | kUndecided | kMayBeNan | kMayBePosInf | kMayBeNegInf;
    return ((real.flags | imaginary.flags) & kNotNumbers) == 0;
  }
  bool IsZero() const { return IsFinite() && centre() == std::complex<W>(0) && reach() == 0; }
  // True if the signs of zero parts are known, which matter on branch cuts.
  bool HasKnownSigns() const { return ((real.flags | imaginary.flags) & kZeroSignFree) == 0; }
  bool IsNan() const { return IsNanPart(real) && IsNanPart(imaginary); }
  static bool IsNanPart(const Range<W>& range) { return range.flags == (kNotFinite | kMayBeNan); }
  std::complex<W> centre() const { return {real.centre, imaginary.centre}; }
  W reach() const {
    return real.radius == 0 && imaginary.radius == 0
               ? W{0}
               : std::hypot(real.radius, imaginary.radius) * (1 + kSlop<W>);
  }
};

// Stores a result within k (eps scale + tiny) of a value that is itself off by at most `growth`.
template <typename T>
void FinishComplex(Array& result, int64_t i, std::complex<Wide<T>> value, Wide<T> growth,
                   Wide<T> scale, double k) {
  using W = Wide<T>;
  const W radius = growth +
                   static_cast<W>(k) * (2 * UnitRoundoff<T>() * (scale + growth) + Tiny<T>()) +
                   (scale + std::abs(value)) * 64 * kSlop<W>;
  const W limit = static_cast<W>(std::numeric_limits<T>::max());
  // UNSPECIFIED(operation semantics 5): results that are infinite or NaN, or may overflow.
  if (!(std::abs(value) + radius < limit)) {
    SetUndecided(result, i);
    return;
  }
  Store(result, 2 * i, Range<W>{value.real(), radius, kZeroSignFree}, 0);
  Store(result, 2 * i + 1, Range<W>{value.imag(), radius, kZeroSignFree}, 0);
}

// Does so for a function whose parts are made one by one: no part is lost in the error of the
// other. `extra` are errors beside the contract's. A part that is too small for a normal number is
// lost by flushing alone.
template <typename T>
void FinishParts(const OpContext& op, Array& result, int64_t i, std::complex<Wide<T>> value,
                 Wide<T> growth, std::complex<Wide<T>> extra) {
  using W = Wide<T>;
  const auto k = static_cast<W>(BudgetOf(op));
  const bool flushes = op.clauses.Has(ClauseId::kFlushSubnormals);
  auto finish = [&](int64_t slot, W part, W more) {
    const W radius = growth + more +
                     k * (2 * UnitRoundoff<T>() * (std::fabs(part) + growth) + UlpAt<T>(0)) +
                     std::fabs(part) * 64 * kSlop<W>;
    const Range<W> x{part, radius, kZeroSignFree};
    Store(result, slot, x, flushes && TouchesSubnormals<T>(x) ? uint32_t{kMayFlush} : 0);
  };
  finish(2 * i, value.real(), extra.real());
  finish(2 * i + 1, value.imag(), extra.imag());
}

template <typename T>
void StoreZero(Array& result, int64_t i) {
  for (int64_t slot : {2 * i, 2 * i + 1})
    Store(result, slot, Range<Wide<T>>{0, 0, kZeroSignFree}, 0);
}

// True for functions of which zero is exactly zero.
template <typename Op>
inline constexpr bool kKeepsZero =
    std::is_same_v<Op, ComplexSqrt> || std::is_same_v<Op, ComplexCbrt> ||
    std::is_same_v<Op, ComplexSine> || std::is_same_v<Op, ComplexTan> ||
    std::is_same_v<Op, ComplexTanh> || std::is_same_v<Op, ComplexSign> ||
    std::is_same_v<Op, ComplexLog1p> || std::is_same_v<Op, ComplexSinh> ||
    std::is_same_v<Op, ComplexAsin> || std::is_same_v<Op, ComplexAsinh> ||
    std::is_same_v<Op, ComplexAtanh>;
// True for functions with a cut on the real axis, where the sign of a zero imaginary part chooses
// the side.
template <typename Op>
inline constexpr bool kHasCut =
    std::is_same_v<Op, ComplexSqrt> || std::is_same_v<Op, ComplexRsqrt> ||
    std::is_same_v<Op, ComplexCbrt> || std::is_same_v<Op, ComplexLog> ||
    std::is_same_v<Op, ComplexLog1p> || std::is_same_v<Op, ComplexAsin> ||
    std::is_same_v<Op, ComplexAcos> || std::is_same_v<Op, ComplexAsinh> ||
    std::is_same_v<Op, ComplexAcosh> || std::is_same_v<Op, ComplexAtanh>;

// Handles an element that is no number, or a pole. True if the documents say what becomes of it.
template <typename Op, typename T>
bool FinishSpecial(const OpContext& op, Array& result, int64_t i,
                   const ComplexOperand<T>& operand) {
  using W = Wide<T>;
  if (operand.IsNan()) return true;  // both parts NaN: so are those of the plain value
  if constexpr (std::is_same_v<Op, ComplexExp>) {
    // exp(-inf + b i) is zero in modulus.
    if (operand.real.flags == (kNotFinite | kMayBeNegInf) &&
        (operand.imaginary.flags & ~uint32_t{kZeroSignFree}) == 0) {
      StoreZero<T>(result, i);
      return true;
    }
  }
  if constexpr (std::is_same_v<Op, ComplexSign>) {
    if (ComplexOperand<T>::IsNanPart(operand.real) ||
        ComplexOperand<T>::IsNanPart(operand.imaginary))
      return true;
  }
  if constexpr (std::is_same_v<Op, ComplexLog>) {
    // log(0) is (-inf, an angle by the signs of the zeros).
    if (operand.IsZero() && operand.HasKnownSigns()) {
      const W angle = std::atan2(operand.imaginary.centre, operand.real.centre);
      const W radius = std::fabs(angle) * (static_cast<W>(BudgetOf(op)) * 2 * UnitRoundoff<T>());
      Store(result, 2 * i + 1, Range<W>{angle, radius, 0}, 0);
      return true;
    }
  }
  if constexpr (std::is_same_v<Op, ComplexLog1p>) {
    // log(1 + -1) is (-inf, a zero).
    if (operand.IsFinite() && operand.reach() == 0 && operand.centre() == std::complex<W>(-1)) {
      Store(result, 2 * i, Range<W>{0, 0, kNotFinite | kMayBeNegInf}, 0);
      Store(result, 2 * i + 1, Range<W>{0, 0, kZeroSignFree}, 0);
      return true;
    }
    // That of -1 and a subnormal imaginary part may be, too, where that is flushed.
    const auto imaginary = static_cast<W>(op.literal(0).GetComponent(2 * i + 1));
    const bool is_flushed = operand.imaginary.radius > 0 && imaginary != 0 &&
                            std::fabs(imaginary) < Tiny<T>() && op.array(0).facts().bounds.empty();
    if (is_flushed && operand.real.Single() && operand.real.centre == -1) {
      const auto value = ComplexLog1p::Value(std::complex<W>(-1, imaginary));
      FinishParts<T>(op, result, i, value, W{0}, {});
      result.facts().bounds[2 * i].flags |= kMayBeNegInf;
      result.facts().bounds[2 * i + 1].flags |= kMayBeZero;
      return true;
    }
  }
  return false;
}

// True if the document's formula, followed step by step, overflows on the way: the logistic
// function exponentiates -z, the sign divides by the modulus.
template <typename Op, typename T>
bool IsBeyondFormula(std::complex<Wide<T>> z) {
  using W = Wide<T>;
  if constexpr (std::is_same_v<Op, ComplexLogistic>)
    return -z.real() > std::log(static_cast<W>(std::numeric_limits<T>::max()));
  if constexpr (std::is_same_v<Op, ComplexSign>) {
    const W modulus = std::abs(z);
    return modulus >= OverflowThreshold<T>() || modulus < Tiny<T>();
  }
  return false;
}

// The sizes by which the error of such a result goes.
template <typename W>
struct LossySizes {
  W growth, scale, lossy;
};

// Stores a result whose error is relative to `scale`, and by a formula that loses digits to
// `lossy`. Such a formula may take digits of the modulus, as long as an answer says something; no
// part as a whole, neither that of a sine next to 0 nor the angle of log-plus-one, which is that of
// 1 + z.
template <typename Op, typename T>
void FinishLossy(const OpContext& op, Array& result, int64_t i, std::complex<Wide<T>> value,
                 const LossySizes<Wide<T>>& sizes) {
  using W = Wide<T>;
  const auto [growth, scale, lossy] = sizes;
  constexpr bool kIsLog1p = std::is_same_v<Op, ComplexLog1p>;
  constexpr bool kIsSine = std::is_same_v<Op, ComplexSine>;
  constexpr bool kKeepsDigits =
      kIsLog1p || kIsSine || std::is_same_v<Op, ComplexLog> || std::is_same_v<Op, ComplexCosine>;
  const double k = BudgetOf(op);
  if constexpr (!kKeepsDigits) return FinishComplex<T>(result, i, value, growth, lossy, k);
  const W modulus = std::abs(value), unit = static_cast<W>(k) * 2 * UnitRoundoff<T>();
  // The judge calls radii of up to the cube root of the unit roundoff useful.
  const W most = std::max<W>(modulus * std::cbrt(UnitRoundoff<T>()) * W{0.75} - unit * scale, 0);
  const W extra = std::min<W>(unit * (lossy - scale), most);
  constexpr W kNextToZero = W{1} / 64;
  if (kIsSine && modulus < kNextToZero) {
    const W real = std::fabs(value.real()), imaginary = std::fabs(value.imag());
    FinishParts<T>(op, result, i, value, growth,
                   {std::min(extra, real / 2), std::min(extra, imaginary / 2)});
  } else if (kIsLog1p && std::isfinite(modulus)) {
    FinishParts<T>(op, result, i, value, growth, {extra + unit * scale, 0});
  } else {
    FinishComplex<T>(result, i, value, growth, scale + extra / unit, k);
  }
}

template <typename Op>
absl::Status BoundUnaryFunction(const OpContext& op, Array& result) {
  const Array operand = Components(op.array(0));
  DispatchComplex(op.type(), [&](auto tag) {
    using T = typename decltype(tag)::type::value_type;
    MakeBounds(result);
    for (int64_t i = 0; i < op.count(); ++i) {
      const ComplexOperand<T> z(op, operand, i);
      if (FinishSpecial<Op, T>(op, result, i, z)) continue;
      // Zero lies on no other cut than that of acosh, or has its own rule.
      const bool has_one_value = z.IsZero() && !std::is_same_v<Op, ComplexAcosh>;
      const bool on_unknown_side = kHasCut<Op> && !z.HasKnownSigns() && !has_one_value;
      const bool is_beyond = op.analysis.is_xla && IsBeyondFormula<Op, T>(z.centre());
      if (!z.IsFinite() || on_unknown_side || is_beyond) {
        SetUndecided(result, i);
      } else if (kKeepsZero<Op> && z.IsZero()) {
        StoreZero<T>(result, i);
      } else {
        const auto value = Op::Value(z.centre());
        const auto scale = Op::Scale(z.centre(), value);
        auto lossy = scale;
        if (op.analysis.is_xla) lossy *= Op::Cancellation(z.centre(), value);
        const auto growth = Op::Growth(z.centre(), z.reach());
        FinishLossy<Op, T>(op, result, i, value, {growth, scale, lossy});
      }
    }
  });
  return absl::OkStatus();
}

// The modulus, without overflow or underflow on the way; infinite if a part is, else NaN if a part
// is.
absl::Status EvaluateAbs(const OpContext& op, Literal& result) {
  DispatchComplex(op.literal(0).element_type(), [&](auto tag) {
    using C = typename decltype(tag)::type;
    using T = typename C::value_type;
    MapUnary<C>(op.literal(0), result, [](C z) {
      return static_cast<T>(std::hypot(Wide<T>(z.real()), Wide<T>(z.imag())));
    });
  });
  return absl::OkStatus();
}

absl::Status BoundModulus(const OpContext& op, Array& result) {
  const Array operand = Components(op.array(0));
  DispatchComplex(op.literal(0).element_type(), [&](auto tag) {
    using T = typename decltype(tag)::type::value_type;
    using W = Wide<T>;
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const double ulps = BudgetOf(op);
    for (int64_t i = 0; i < op.count(); ++i) {
      const ComplexOperand<T> z(op, operand, i);
      if (z.IsFinite()) {
        if (z.IsZero()) continue;
        const Range<W> modulus{std::hypot(z.real.centre, z.imaginary.centre), z.reach(), 0};
        FinishFunction<T>(op.clauses, result, i, modulus, {ulps, 0, kInfinity});
      } else if (!z.real.Single() || !z.imaginary.Single()) {
        SetUndecided(result, i);
      } else if (op.analysis.is_xla && ComplexOperand<T>::IsNanPart(z.real) !=
                                           ComplexOperand<T>::IsNanPart(z.imaginary)) {
        // The documents warn that XLA makes a NaN of an infinity beside a NaN.
        SetUndecided(result, i);
      }
    }
  });
  return absl::OkStatus();
}

// ---- Binary functions.

// The bounds of x / 0: nonzero parts of x become infinite with the product of the signs.
template <typename T>
void FinishDivisionByZero(Array& result, int64_t i, const ComplexOperand<T>& x,
                          const ComplexOperand<T>& y) {
  SetUndecided(result, i);
  if (!x.IsFinite() || !y.HasKnownSigns()) return;
  const bool negative = std::signbit(y.real.centre);
  int64_t slot = 2 * i;
  for (const Range<Wide<T>>* part : {&x.real, &x.imaginary}) {
    if (part->low() > 0 || part->high() < 0) {
      const bool up = (part->low() > 0) != negative;
      Store(result, slot, Range<Wide<T>>{0, 0, kNotFinite | (up ? kMayBePosInf : kMayBeNegInf)}, 0);
    }
    ++slot;
  }
  if (x.IsZero()) {
    for (int64_t k : {2 * i, 2 * i + 1})
      Store(result, k, Range<Wide<T>>{0, 0, kNotFinite | kMayBeNan}, 0);
  }
}

absl::Status EvaluateDivide(const OpContext& op, Literal& result) {
  DispatchComplex(op.type(), [&](auto tag) {
    using C = typename decltype(tag)::type;
    using T = typename C::value_type;
    using W = std::complex<Wide<T>>;
    MapBinary<C>(op.literal(0), op.literal(1), result, [](C x, C y) {
      constexpr T kInfinity = std::numeric_limits<T>::infinity();
      const bool is_number = !std::isnan(x.real()) && !std::isnan(x.imag());
      if (y == C(0) && is_number) {
        const T pole = std::copysign(kInfinity, y.real());
        return C(pole * x.real(), pole * x.imag());
      }
      const bool infinite_divisor = std::isinf(y.real()) || std::isinf(y.imag());
      if (infinite_divisor && std::isfinite(x.real()) && std::isfinite(x.imag())) return C(0, 0);
      return C(ComplexDivide::Value(W(x), W(y)));
    });
  });
  return absl::OkStatus();
}

absl::Status BoundDivide(const OpContext& op, Array& result) {
  const Array dividend = Components(op.array(0)), divisor = Components(op.array(1));
  DispatchComplex(op.type(), [&](auto tag) {
    using T = typename decltype(tag)::type::value_type;
    // A quotient of quotients may be one quotient of products.
    const int products =
        op.clauses.Has(ClauseId::kNestedQuotients) ? int{op.licensed.quotients} : 0;
    const double k = BudgetOf(op) + 6 * products;
    MakeBounds(result);
    for (int64_t i = 0; i < op.count(); ++i) {
      const ComplexOperand<T> x(op, dividend, i), y(op, divisor, i);
      const bool infinite_divisor =
          y.real.Single() && y.imaginary.Single() &&
          ((y.real.flags | y.imaginary.flags) & (kMayBePosInf | kMayBeNegInf)) != 0 &&
          ((y.real.flags | y.imaginary.flags) & kMayBeNan) == 0;
      if (y.IsZero()) {
        FinishDivisionByZero<T>(result, i, x, y);
      } else if (x.IsFinite() && infinite_divisor) {
        StoreZero<T>(result, i);
      } else if (!x.IsFinite() || !y.IsFinite()) {
        if (!x.IsNan() || !y.IsNan()) SetUndecided(result, i);
      } else {
        const auto value = ComplexDivide::Value(x.centre(), y.centre());
        const auto size = std::abs(x.centre()), quotient = std::abs(value);
        if ((size != 0 && (!IsModerate<T>(size) || !IsModerate<T>(quotient))) ||
            !IsModerate<T>(std::abs(y.centre()))) {
          SetUndecided(result, i);
          continue;
        }
        FinishComplex<T>(result, i, value,
                         ComplexDivide::Growth(x.centre(), y.centre(), value, x.reach(), y.reach()),
                         quotient, k);
      }
    }
  });
  return absl::OkStatus();
}

// UNSPECIFIED(operation semantics 6): powers of zero with exponents that are not positive real
// numbers, powers whose exponent times the logarithm exceeds 50 in modulus, and atan2 where
// x^2 + y^2 is close to zero in comparison with its terms. Where rounding chooses the side of the
// cut of its root, either is legal. The document's formula squares both
// operands and may be followed step by step: squares that overflow or vanish are lost.
template <typename T, typename W>
bool IsUnspecified(ComplexPower, std::complex<W> x, std::complex<W> y) {
  if (x == std::complex<W>(0)) return y != std::complex<W>(0) && !(y.imag() == 0 && y.real() > 0);
  // The formula squares the parts of the base for its modulus.
  return !(std::abs(y * std::log(x)) <= 50) || !IsModerate<T>(std::abs(x));
}
template <typename T, typename W>
bool IsUnspecified(ComplexAtan2, std::complex<W> y, std::complex<W> x) {
  const W size = std::norm(x) + std::norm(y);
  const std::complex<W> sum = x * x + y * y;
  const bool at_cut =
      sum.real() < 0 && sum.imag() != 0 && std::fabs(sum.imag()) <= 4 * UnitRoundoff<T>() * size;
  const bool loses_squares = !IsModerate<T>(std::max(std::abs(y), std::abs(x)));
  return at_cut || loses_squares || !(std::abs(sum) > size / 1024);
}

// True if rounding chooses the side of the logarithm's cut in the document's formula: the number
// whose logarithm is taken has a modulus near 1 and is off by some roundings.
template <typename T, typename W>
bool IsAtCutOfLog(ComplexPower, std::complex<W>, std::complex<W>) {
  return false;
}
template <typename T, typename W>
bool IsAtCutOfLog(ComplexAtan2, std::complex<W> y, std::complex<W> x) {
  const std::complex<W> quotient = (x + std::complex<W>(0, 1) * y) / std::sqrt(x * x + y * y);
  return quotient.real() < 0 &&
         std::fabs(quotient.imag()) <= 8 * UnitRoundoff<T>() * std::abs(quotient);
}

// The sign of a zero imaginary part chooses a side of the logarithm's cut, where the real part does
// not decide.
template <typename T>
bool IsOnUnknownSide(ComplexPower, const ComplexOperand<T>& operand) {
  return !operand.HasKnownSigns() && operand.real.low() <= 0;
}
template <typename T>
bool IsOnUnknownSide(ComplexAtan2, const ComplexOperand<T>& operand) {
  return !operand.HasKnownSigns();
}

template <typename Op>
absl::Status BoundBinaryFunction(const OpContext& op, Array& result) {
  const Array first = Components(op.array(0)), second = Components(op.array(1));
  DispatchComplex(op.type(), [&](auto tag) {
    using T = typename decltype(tag)::type::value_type;
    const double k = BudgetOf(op);
    MakeBounds(result);
    for (int64_t i = 0; i < op.count(); ++i) {
      const ComplexOperand<T> x(op, first, i), y(op, second, i);
      if (x.IsNan() && y.IsNan()) continue;
      const bool is_at_cut = op.analysis.is_xla && IsAtCutOfLog<T>(Op{}, x.centre(), y.centre());
      if (!x.IsFinite() || !y.IsFinite() || is_at_cut ||
          IsUnspecified<T>(Op{}, x.centre(), y.centre()) || IsOnUnknownSide<T>(Op{}, x)) {
        SetUndecided(result, i);
        continue;
      }
      const auto value = Op::Value(x.centre(), y.centre());
      const auto growth = Op::Growth(x.centre(), y.centre(), value, x.reach(), y.reach());
      const auto scale = op.analysis.is_xla ? Op::Scale(value) : std::abs(value);
      const auto steps = static_cast<double>(Op::Steps(x.centre(), y.centre()));
      FinishComplex<T>(result, i, value, growth, scale, std::max(k, steps));
    }
  });
  return absl::OkStatus();
}

template <typename Op>
constexpr OpEvaluation Unary(Opcode opcode) {
  return {opcode, EvaluateUnaryFunction<Op>, BoundUnaryFunction<Op>};
}

}  // namespace

absl::Span<const OpEvaluation> ComplexFunctionEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {.opcode = Opcode::kAbs, .evaluate = EvaluateAbs, .bound = BoundModulus},
      Unary<ComplexSign>(Opcode::kSign),
      Unary<ComplexExp>(Opcode::kExponential),
      Unary<ComplexExpm1>(Opcode::kExponentialMinusOne),
      Unary<ComplexLog>(Opcode::kLog),
      Unary<ComplexLog1p>(Opcode::kLogPlusOne),
      Unary<ComplexSqrt>(Opcode::kSqrt),
      Unary<ComplexRsqrt>(Opcode::kRsqrt),
      Unary<ComplexCbrt>(Opcode::kCbrt),
      Unary<ComplexSine>(Opcode::kSine),
      Unary<ComplexCosine>(Opcode::kCosine),
      Unary<ComplexTan>(Opcode::kTan),
      Unary<ComplexTanh>(Opcode::kTanh),
      Unary<ComplexLogistic>(Opcode::kLogistic),
      Unary<ComplexAcos>(Opcode::kAcos),
      Unary<ComplexAcosh>(Opcode::kAcosh),
      Unary<ComplexAsin>(Opcode::kAsin),
      Unary<ComplexAsinh>(Opcode::kAsinh),
      Unary<ComplexAtanh>(Opcode::kAtanh),
      Unary<ComplexSinh>(Opcode::kSinh),
      Unary<ComplexCosh>(Opcode::kCosh),
      {.opcode = Opcode::kDivide, .evaluate = EvaluateDivide, .bound = BoundDivide},
      {.opcode = Opcode::kPower,
       .evaluate = EvaluateBinaryFunction<ComplexPower>,
       .bound = BoundBinaryFunction<ComplexPower>},
      {.opcode = Opcode::kAtan2,
       .evaluate = EvaluateBinaryFunction<ComplexAtan2>,
       .bound = BoundBinaryFunction<ComplexAtan2>},
  };
  return kRows;
}

}  // namespace assay::reference
