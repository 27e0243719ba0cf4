// Rounding of ranges to narrow formats that are known at run time only.
#include "reference/bounds/elementwise/narrow.h"

#include "reference/bounds/elementwise/binary_rules.h"
#include "reference/bounds/elementwise/rewrite_error.h"
#include "reference/scalar/convert_ops.h"
#include "reference/scalar/unary_ops.h"
#include "reference/values/narrow_types.h"

namespace assay::reference {
namespace {

constexpr double kLargestHalf = 65504;

// The infinities that f16 may hold of a range.
uint32_t InfinitiesInHalf(const Range<double>& range) {
  uint32_t flags = range.flags & (kMayBePosInf | kMayBeNegInf);
  if (!range.HasFinite()) return flags;
  if (range.high() > kLargestHalf) flags |= kMayBePosInf;
  if (range.low() < -kLargestHalf) flags |= kMayBeNegInf;
  return flags;
}

// Rounding of real values to a format.
class NarrowFormat {
 public:
  explicit NarrowFormat(ElementType type) : format_(Format(type)) {}

  double Round(double x) const { return DecodeFloat(format_, EncodeFloat(format_, x)); }
  // The infinities that `x` may have become where the format has none.
  uint32_t WithoutInfinity(uint32_t flags) const {
    if (format_.HasInfinity() || (flags & (kMayBePosInf | kMayBeNegInf)) == 0) return flags;
    if (!format_.HasNan()) return flags | kUndecided;
    return (flags & ~uint32_t{kMayBePosInf | kMayBeNegInf}) | kMayBeNan;
  }

  // The range between the images of the ends.
  Range<double> Image(Range<double> x) const {
    x.flags = WithoutInfinity(x.flags);
    if ((x.flags & kMayBeNan) != 0 && !format_.HasNan()) x.flags |= kUndecided;
    x = Normalized(x);
    if (!x.HasFinite() || x.Undecided()) return x;
    const double slop = (std::fabs(x.centre) + x.radius) * kSlop<double>;
    const double low = Round(x.low() - slop), high = Round(x.high() + slop);
    if (std::isfinite(low) && std::isfinite(high)) {
      Range<double> image = Range<double>::Hull(low, high);
      image.flags = x.flags;
      if (low == 0 && high == 0 && format_.HasNegativeZero()) image.flags |= kZeroSignFree;
      return image;
    }
    uint32_t flags = x.flags;
    for (double end : {low, high}) {
      if (std::isnan(end)) flags |= kMayBeNan;
      if (std::isinf(end)) flags |= end > 0 ? kMayBePosInf : kMayBeNegInf;
    }
    const bool one_side = x.low() > 0 || x.high() < 0;
    if (!std::isfinite(low) && !std::isfinite(high) && one_side) return {0, 0, flags | kNotFinite};
    // Finite results lie between the images and the largest number.
    const double max = format_.MaxFinite();
    Range<double> image =
        Range<double>::Hull(std::isfinite(low) ? low : -max, std::isfinite(high) ? high : max);
    image.flags = flags;
    return image;
  }

  // Stores what a conversion of `exact` gives.
  void Finish(ClauseSet clauses, Array& result, int64_t i, const Range<double>& exact) const {
    const double plain = result.literal.GetDouble(i);
    // A wider type keeps the sign of a zero that this one has not.
    const bool is_zero = exact.radius == 0 && exact.centre == 0 && plain == 0 &&
                         (exact.flags & ~uint32_t{kZeroSignFree}) == 0;
    const bool may_be_negative =
        is_zero && (std::signbit(exact.centre) || (exact.flags & kZeroSignFree) != 0);
    if (may_be_negative && !format_.HasNegativeZero() && clauses.Has(ClauseId::kExcessPrecision)) {
      Store(result, i, Range<double>{0, 0, kZeroSignFree}, uint32_t{kForced} | kAnyView);
      return;
    }
    const bool is_lost = !format_.HasInfinity() && format_.HasNan() &&
                         (exact.flags & (kMayBePosInf | kMayBeNegInf)) != 0;
    const bool is_view =
        clauses.Has(ClauseId::kExcessPrecision) && !exact.Undecided() &&
        (is_lost || (exact.HasFinite() && !(exact.centre == plain && exact.radius == 0)));
    const Range<double> image = Image(exact);
    const bool one_image = image.HasFinite() && !image.Undecided() && image.radius == 0 &&
                           image.centre == plain && (image.flags & ~uint32_t{kZeroSignFree}) == 0;
    // A NaN or an infinity in a format without both is anything (operation semantics 1.5).
    const bool forced = !image.Undecided() && (exact.Single() || (one_image && plain != 0));
    if (!is_view) {
      if (!forced) Store(result, i, image, 0);
      return;
    }
    // The value is kept in a wider type, at least f16, until it is output.
    Range<double> x = exact;
    if (x.HasFinite()) x.radius += std::fabs(x.centre) * 0x1p-11 + 0x1p-25;
    x.flags |= InfinitiesInHalf(x);
    if (std::isfinite(plain)) x.radius = std::max(x.radius, std::fabs(x.centre - plain));
    if (std::isnan(plain)) x.flags |= kMayBeNan;
    if (std::isinf(plain)) x.flags |= plain > 0 ? kMayBePosInf : kMayBeNegInf;
    if (forced) {
      Store(result, i, x, uint32_t{kForced} | kAnyView);
    } else {
      // An output is rounded all the same; the interval holds both values.
      x = HullOf(x, image);
      x.radius += UlpAt(std::fabs(x.centre) + x.radius);
      Store(result, i, x, 0);
    }
  }

  bool HasNegativeZero() const { return format_.HasNegativeZero(); }
  double MaxFinite() const { return format_.MaxFinite(); }
  // The number next to the code that is nearest to x, above it or below (`direction` 1 or -1); the
  // largest number has no number above it.
  double Next(double x, int direction) const {
    const double at = Round(x), step = UlpAt(std::fabs(at));
    // Below a power of two the codes are twice as close.
    const bool towards_zero = at * direction < 0;
    const double near = at + direction * step / 2, far = at + direction * step;
    const double next = towards_zero && Round(near) == near && near != at ? near : far;
    return std::fabs(next) <= format_.MaxFinite() ? next : at;
  }

  // Spacing at a magnitude; of one that is not known, that of the largest numbers.
  double UlpAt(double magnitude) const {
    const double clamped = magnitude < format_.MaxFinite()
                               ? std::max(magnitude, format_.MinNormal())
                               : format_.MaxFinite();
    return std::ldexp(1.0, std::ilogb(clamped) - format_.mantissa_bits);
  }

 private:
  const FloatFormat& format_;
};

Range<double> HullOfCodes(const Array& array, int64_t i) {
  Range<double> x{0, 0, kNotFinite};
  Literal scalar(Shape::Scalar(array.literal.element_type()));
  const std::vector<uint64_t> codes = CodesOf(array, i);
  if (codes.empty()) return Range<double>::Unknown();
  for (uint64_t code : codes) {
    scalar.SetBits(0, code);
    Range<double> value{scalar.GetDouble(0), 0, 0};
    if (std::fabs(value.centre) > 0x1p52) value.radius = std::fabs(value.centre) * 0x1p-52;
    x = HullOf(x, value);
  }
  return x;
}

void ToFloat(const OpContext& op, Array& result) {
  const Array& operand = op.array(0);
  const bool from_float = IsFloat(operand.literal.element_type());
  auto read = [&](int64_t i) {
    return from_float ? SeenAny(op, operand, i) : HullOfCodes(operand, i);
  };
  const bool same = operand.literal.element_type() == op.type();
  if (IsNarrowType(op.type())) {
    const NarrowFormat format(op.type());
    for (int64_t i = 0; i < op.count(); ++i) {
      if (same) {
        MoveBound(operand, i, result, i);
      } else {
        format.Finish(op.clauses, result, i, read(i));
      }
    }
    return;
  }
  DispatchReal(op.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using W = Wide<T>;
    for (int64_t i = 0; i < op.count(); ++i) {
      const Range<double> seen = read(i);
      const Range<W> x{static_cast<W>(seen.centre), static_cast<W>(seen.radius), seen.flags};
      if (seen.Single()) {
        FinishSingle<T>(op.clauses, result, i, x, View::kNone);
      } else {
        FinishRounded<T>(op.clauses, result, i, x, View::kNone);
      }
    }
  });
}

// Stores the integers between the images of the ends, or for predicates whether it may be zero or
// not.
void FloatToInteger(const OpContext& op, Array& result) {
  Literal scalar(Shape::Scalar(op.type()));
  auto code = [&](double value) {
    scalar.SetDouble(0, value);
    return scalar.GetBits(0);
  };
  auto integer = [&](double value) {
    scalar.SetDouble(0, value);
    return scalar.GetInteger(0);
  };
  for (int64_t i = 0; i < op.count(); ++i) {
    const Range<double> x = SeenAny(op, op.array(0), i);
    if (x.Single()) continue;
    std::vector<uint64_t> codes;
    if (!x.Undecided() && x.HasFinite()) {
      if (IsPred(op.type())) {
        if (x.Contains(0)) codes.push_back(0);
        if (x.radius != 0 || x.centre != 0) codes.push_back(1);
      } else {
        const double slop = std::fabs(x.centre) * kSlop<double>;
        const int64_t low = integer(x.low() - slop), high = integer(x.high() + slop);
        const uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
        for (uint64_t k = 0; span < kMaxChoices && k <= span; ++k) {
          scalar.SetInteger(0, static_cast<int64_t>(static_cast<uint64_t>(low) + k));
          codes.push_back(scalar.GetBits(0));
        }
        if (codes.empty()) {
          SetUndecided(result, i);
          continue;
        }
      }
    }
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (x.Undecided()) {
      SetUndecided(result, i);
      continue;
    }
    if ((x.flags & kMayBePosInf) != 0) codes.push_back(code(kInfinity));
    if ((x.flags & kMayBeNegInf) != 0) codes.push_back(code(-kInfinity));
    if ((x.flags & kMayBeNan) != 0) codes.push_back(IsPred(op.type()) ? 1 : 0);
    SetCodes(result, i, std::move(codes));
  }
}

// True if the op is a quotient that may be a product with the reciprocal of its divisor.
bool IsByReciprocal(const OpContext& op) {
  return op.instruction.opcode() == Opcode::kDivide &&
         (DivideBound::ByReciprocal(op) || DivideBound::ByRoot(op));
}

// The error in f16 of another form of the op on a and b, whose result in f32 is x.
double ErrorOfFormsInHalf(const OpContext& op, const Range<double>& a, const Range<double>& b,
                          const Range<double>& x) {
  double error = MayBeRewritten(op) ? RewriteError<Half>(op, a, b, x) : 0;
  if (op.instruction.opcode() != Opcode::kDivide) return error;
  if (DivideBound::ByReciprocal(op)) error += ReciprocalError<Half>(a, b, x);
  if (DivideBound::ByRoot(op)) error += RootError<Half>(op, a, b, x);
  return error;
}

// The least and the largest value of a function.
std::pair<double, double> RangeOfFunction(Opcode opcode) {
  auto range = [](auto function) {
    using F = decltype(function);
    return std::pair<double, double>(F::kRangeLow, F::kRangeHigh);
  };
  switch (opcode) {
    case Opcode::kTanh:
      return range(Tanh());
    case Opcode::kErf:
      return range(Erf());
    case Opcode::kLogistic:
      return range(Logistic());
    case Opcode::kSine:
      return range(Sine());
    case Opcode::kCosine:
      return range(Cosine());
    case Opcode::kExponential:
      return range(Exp());
    case Opcode::kExponentialMinusOne:
      return range(Expm1());
    case Opcode::kRsqrt:
      return range(Rsqrt());
    default:
      return range(Function());
  }
}

}  // namespace

Range<double> SeenAny(const OpContext& op, const Array& array, int64_t i) {
  const ElementType type = array.literal.element_type();
  Range<double> x;
  if (IsNarrowType(type)) {
    const ElementBound bound = array.facts().BoundOf(i);
    const bool plain = (bound.flags & kForced) != 0 && (bound.flags & kAnyView) == 0;
    if (plain) return Point<float>(static_cast<float>(array.literal.GetDouble(i)));
    return {bound.centre, bound.radius, bound.flags & kSpecialFlags};  // never flushed
  }
  DispatchReal(type, [&](auto tag) {
    const auto seen = Seen<typename decltype(tag)::type>(op.clauses, array, i);
    x = {static_cast<double>(seen.centre), static_cast<double>(seen.radius), seen.flags};
    // A long double centre is not exact in double.
    if (static_cast<long double>(x.centre) != static_cast<long double>(seen.centre))
      x.radius += std::fabs(x.centre) * 0x1p-52;
  });
  return Normalized(x);
}

void FinishNarrow(ClauseSet clauses, Array& result, int64_t i, double exact) {
  const ElementType type = result.literal.element_type();
  const NarrowFormat format(type);
  const FloatFormat& half = Format(ElementType::kF16);
  const double twice = format.Round(DecodeFloat(half, EncodeFloat(half, exact)));
  const bool may_be_half = clauses.Has(ClauseId::kExcessPrecision) && BitWidth(type) == 8 &&
                           type != ElementType::kF8E8M0FNU;
  Range<double> range{exact, 0, 0};
  // By way of f16 it is another number, or none: neither is forced.
  if (may_be_half && std::isfinite(twice) && twice != format.Round(exact)) {
    range = Range<double>::Hull(std::min(exact, twice), std::max(exact, twice));
  } else if (may_be_half && std::isfinite(format.Round(exact)) && !std::isfinite(twice)) {
    range.flags |= std::isnan(twice) ? kMayBeNan : exact > 0 ? kMayBePosInf : kMayBeNegInf;
  }
  format.Finish(clauses, result, i, range);
}

absl::Status BoundNarrowConvert(const OpContext& op, Array& result) {
  if (IsFloat(op.type())) {
    ToFloat(op, result);
  } else {
    FloatToInteger(op, result);
  }
  return absl::OkStatus();
}

void GrantRoundingToHalf(const OpContext& op, Array& exact) {
  const Opcode opcode = op.instruction.opcode();
  const bool adds = opcode == Opcode::kAdd || opcode == Opcode::kSubtract;
  const bool is_rewritten = op.operands.size() == 2 && Info(opcode).Is(kElementwise) &&
                            (MayBeRewritten(op) || IsByReciprocal(op));
  for (int64_t i = 0; i < exact.literal.element_count(); ++i) {
    Range<double> x = SeenAny(op, exact, i);
    if (!x.HasFinite() || x.Undecided()) continue;
    const double magnitude = std::fabs(x.centre) + x.radius;
    if (magnitude > kLargestHalf) continue;  // an infinity there is one of the intermediates
    const double plain = exact.literal.GetDouble(i);
    const bool is_held = x.radius == 0 && x.flags == 0 && x.centre == plain &&
                         DecodeFloat(Format(ElementType::kF16),
                                     EncodeFloat(Format(ElementType::kF16), plain)) == plain;
    // A product or quotient that is zero is so in every form.
    if (is_held && (!is_rewritten || (plain == 0 && !adds))) continue;
    MakeBounds(exact);
    const uint32_t zeros = exact.facts().bounds[i].flags & (kZeroSigns | kMayBeZero);
    double error = magnitude * 0x1p-11 + 0x1p-25;
    if (is_rewritten) {
      const Range<double> a = SeenAny(op, op.array(0), i), b = SeenAny(op, op.array(1), i);
      error += ErrorOfFormsInHalf(op, a, b, x);
    }
    // Nothing is rounded beyond zero.
    const double low = x.low() >= 0 ? std::max(x.low() - error, 0.0) : x.low() - error;
    const double high = x.high() <= 0 ? std::min(x.high() + error, 0.0) : x.high() + error;
    Range<double> rounded = Range<double>::Hull(low, high);
    rounded.flags = x.flags;
    Store(exact, i, rounded, zeros);
  }
}

void GrantOneUlp(const OpContext& op, const Array& exact, Array& result) {
  const NarrowFormat format(result.literal.element_type());
  const auto [least, most] = RangeOfFunction(op.instruction.opcode());
  for (int64_t i = 0; i < result.literal.element_count(); ++i) {
    // A result that no implementation may miss was forced before the conversion.
    if (!exact.facts().IsOpen(i)) continue;
    MakeBounds(result);
    const Range<double> before = SeenAny(op, exact, i);
    Range<double> x = format.Image(before);
    // Beside an overflow lies the largest number.
    if (!x.HasFinite() || x.Undecided()) {
      SetUndecided(result, i);
      continue;
    }
    const uint32_t flags = x.flags;
    uint32_t zeros = exact.facts().bounds[i].flags & kZeroSigns;
    if (!format.HasNegativeZero()) zeros &= ~uint32_t{kNoPositiveZero};
    double low = std::max(format.Next(x.low(), -1), least);
    double high = std::min(format.Next(x.high(), 1), most);
    if ((zeros & kNoNegativeZero) != 0) low = std::max(low, 0.0);
    if ((zeros & kNoPositiveZero) != 0) high = std::min(high, 0.0);
    // Who keeps the value in a wider type reads more than the largest number here.
    if (op.clauses.Has(ClauseId::kExcessPrecision) && before.HasFinite()) {
      const double margin = (std::fabs(before.centre) + before.radius) * 0x1p-10;
      if (before.low() < -format.MaxFinite()) low = before.low() - margin;
      if (before.high() > format.MaxFinite()) high = before.high() + margin;
    }
    x = Range<double>::Hull(low, high);
    x.flags = flags;
    if (op.clauses.Has(ClauseId::kExcessPrecision)) x.flags |= InfinitiesInHalf(before);
    Store(result, i, x, x.Contains(0) ? zeros : 0);
  }
}

}  // namespace assay::reference
