// Conversions between element types. Document: operation semantics chapter 8.
#include <cmath>
#include <cstring>
#include <limits>

#include "reference/bounds/elementwise/convert.h"
#include "reference/scalar/convert_ops.h"
#include "reference/values/elementwise.h"
#include "reference/values/pick_bytes.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"

namespace assay::reference {
namespace {

// Converts types that C++ does not compute by their formats: from the exact value of a float, or
// from an integer of any size.
void ConvertByFormat(const Literal& operand, Literal& result) {
  const ElementType from = operand.element_type(), to = result.element_type();
  for (int64_t i = 0; i < result.element_count(); ++i) {
    if (IsFloat(from)) {
      result.SetDouble(i, operand.GetDouble(i));
    } else if (IsUnsigned(from) && IsFloat(to)) {
      result.SetBits(i, EncodeInteger(Format(to), operand.GetBits(i), false));
    } else {
      result.SetInteger(i, operand.GetInteger(i));
    }
  }
}

// Looks values up: a type that takes a byte in memory has no more than 256.
void ConvertByTable(const Literal& operand, Literal& result) {
  constexpr int64_t kCodes = 256;
  Literal codes(Shape::Array(operand.element_type(), {kCodes}));
  Literal converted(Shape::Array(result.element_type(), {kCodes}));
  for (size_t code = 0; code < kCodes; ++code) codes.bytes()[code] = static_cast<uint8_t>(code);
  ConvertByFormat(codes, converted);
  const size_t size = converted.bytes().size() / kCodes;
  const uint8_t* from = operand.bytes().data();
  PickBytes(
      converted.bytes().data(), size, operand.element_count(),
      [from](int64_t i) { return from[i]; }, result.bytes().data());
}

absl::Status EvaluateConvert(const OpContext& op, Literal& result) {
  const ElementType from = op.literal(0).element_type(), to = op.type();
  if (from == to) {
    std::memcpy(result.bytes().data(), op.literal(0).bytes().data(), result.bytes().size());
    return absl::OkStatus();
  }
  if (!IsComputed(from) || !IsComputed(to)) {
    constexpr int64_t kFewest = 1024;
    const bool is_of_bytes = Info(from).storage_bytes == 1 && result.element_count() >= kFewest;
    (is_of_bytes ? ConvertByTable : ConvertByFormat)(op.literal(0), result);
    return absl::OkStatus();
  }
  DispatchComputed(from, [&](auto from_tag) {
    using From = typename decltype(from_tag)::type;
    DispatchComputed(to, [&](auto to_tag) {
      using To = typename decltype(to_tag)::type;
      MapUnary<From>(op.literal(0), result, [](From x) { return ConvertElement<To>(x); });
    });
  });
  return absl::OkStatus();
}

// Appends the logical bits of an array, least significant first within an element; a predicate is
// one bit.
void AppendBits(const Literal& literal, std::vector<bool>& bits) {
  const int width = BitWidth(literal.element_type());
  for (int64_t i = 0; i < literal.element_count(); ++i) {
    const uint64_t code = literal.GetBits(i);
    for (int b = 0; b < width; ++b) bits.push_back((code >> b & 1) != 0);
  }
}

absl::Status EvaluateBitcastConvert(const OpContext& op, Literal& result) {
  const Literal& operand = op.literal(0);
  auto fills_bytes = [](ElementType type) { return BitWidth(type) == 8 * StorageBytes(type); };
  if (fills_bytes(operand.element_type()) && fills_bytes(op.type())) {
    // Little-endian and row-major: the split or joined last dimension lies in place.
    std::memcpy(result.bytes().data(), operand.bytes().data(), result.bytes().size());
    return absl::OkStatus();
  }
  std::vector<bool> bits;
  AppendBits(operand, bits);
  const int width = BitWidth(op.type());
  for (int64_t i = 0; i < result.element_count(); ++i) {
    uint64_t code = 0;
    for (int b = 0; b < width; ++b) code |= uint64_t{bits[i * width + b]} << b;
    result.SetBits(i, code);
  }
  return absl::OkStatus();
}

absl::Status EvaluateReducePrecision(const OpContext& op, Literal& result) {
  const FloatFormat& format = Format(op.type());
  const int exponent_bits =
      static_cast<int>(op.instruction.attributes().Integer(Attr::kExponentBits));
  const int mantissa_bits =
      static_cast<int>(op.instruction.attributes().Integer(Attr::kMantissaBits));
  for (int64_t i = 0; i < result.element_count(); ++i)
    result.SetBits(i,
                   ReducePrecision(format, exponent_bits, mantissa_bits, op.literal(0).GetBits(i)));
  return absl::OkStatus();
}

// ---- stochastic-convert

// The numbers of a float type next to a magnitude on both sides; both are the magnitude if it is
// one of them.
struct Neighbours {
  double below, above;
};
Neighbours NeighboursOf(const FloatFormat& format, double magnitude) {
  uint64_t code = EncodeFloat(format, magnitude);
  const double nearest = DecodeFloat(format, code);
  if (nearest == magnitude || std::isinf(magnitude)) return {nearest, nearest};
  const uint64_t largest = EncodeFloat(format, format.MaxFinite());
  const bool overflows = !(nearest <= format.MaxFinite());
  if (overflows || (nearest > magnitude && code > 0)) code = overflows ? largest : code - 1;
  const double below = DecodeFloat(format, code);
  if (code < largest) return {below, DecodeFloat(format, code + 1)};
  // The neighbour beyond the largest number is taken to be as far away as the one before it.
  const double step = below - DecodeFloat(format, code - 1);
  return {below, below + step};
}

// True if `fraction`, in [0, 1), in `width` bits is more than the random bits taken as a fraction.
bool RoundsUp(double fraction, uint64_t random, int width) {
  return random < static_cast<uint64_t>(std::ldexp(fraction, width));
}

// Sets element `i` of `result` to x, rounded by the random bits.
void StochasticConvertElement(double x, uint64_t random, int width, int64_t i, Literal& result) {
  const double magnitude = std::fabs(x);
  if (!std::isfinite(x)) return result.SetDouble(i, x);
  double value;
  if (IsFloat(result.element_type())) {
    const auto [below, above] = NeighboursOf(Format(result.element_type()), magnitude);
    const double fraction = above == below ? 0 : (magnitude - below) / (above - below);
    value = fraction >= 1 || RoundsUp(fraction, random, width) ? above : below;
  } else {
    const double whole = std::trunc(magnitude);
    value = whole + (RoundsUp(magnitude - whole, random, width) ? 1 : 0);
  }
  result.SetDouble(i, std::copysign(value, x));
}

absl::Status EvaluateStochasticConvert(const OpContext& op, Literal& result) {
  const int width = BitWidth(op.literal(1).element_type());
  for (int64_t i = 0; i < result.element_count(); ++i)
    StochasticConvertElement(op.literal(0).GetDouble(i), op.literal(1).GetBits(i), width, i,
                             result);
  return absl::OkStatus();
}

// UNSPECIFIED(operation semantics 8, StochasticConvert): which random bits decide between the two
// neighbours of a float. Integers follow the comparison that XLA's decomposition makes (jaxlib
// 0.10.2).
void BoundStochasticFloat(const OpContext& op, int64_t i, const Range<double>& range,
                          Array& result) {
  const FloatFormat& format = Format(op.type());
  if (range.Undecided() || (range.Single() && range.flags != 0)) {
    if (range.Undecided()) SetUndecided(result, i);
    return;
  }
  Range<double> hull{0, 0, range.flags};
  if (range.HasFinite()) {
    // The result lies between the outer neighbours of both ends. A magnitude that overflows becomes
    // an infinity; what it becomes in formats without one is not followed.
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (double end : {range.low(), range.high()}) {
      const auto [below, above] = NeighboursOf(format, std::fabs(end));
      for (double magnitude : {below, above}) {
        const double value = std::copysign(magnitude, end);
        low = std::min(low, value);
        high = std::max(high, value);
        if (magnitude > format.MaxFinite()) {
          if (!format.HasInfinity()) return SetUndecided(result, i);
          hull.flags |= end > 0 ? kMayBePosInf : kMayBeNegInf;
        }
      }
    }
    low = std::max(low, -format.MaxFinite());
    high = std::min(high, format.MaxFinite());
    if (low == high && hull.flags == 0 && range.Single()) return;
    const uint32_t flags = hull.flags;
    hull = Range<double>::Hull(low, high);
    hull.flags = flags | (low <= 0 && high >= 0 ? uint32_t{kZeroSignFree} : 0);
  }
  Store(result, i, hull, 0);
}

void BoundStochasticInteger(const OpContext& op, int64_t i, const Range<double>& range,
                            Array& result) {
  const bool certain_bits = !op.array(1).facts().choices.contains(i);
  if (range.Single() && certain_bits) return;
  if (range.Undecided()) return SetUndecided(result, i);
  const int width = BitWidth(op.literal(1).element_type());
  std::vector<uint64_t> draws = CodesOf(op.array(1), i);
  if (draws.empty()) draws = {0, width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1};
  Literal scalar(Shape::Scalar(op.type()));
  auto convert = [&](double value, uint64_t draw) -> const Literal& {
    StochasticConvertElement(value, draw, width, 0, scalar);
    return scalar;
  };
  std::vector<uint64_t> codes;
  if (range.HasFinite()) {
    // For given bits the result grows with the operand.
    const double slop = range.radius == 0 ? 0 : std::fabs(range.centre) * kSlop<double>;
    for (uint64_t draw : draws) {
      const auto low = static_cast<uint64_t>(convert(range.low() - slop, draw).GetInteger(0));
      const auto high = static_cast<uint64_t>(convert(range.high() + slop, draw).GetInteger(0));
      if (high - low >= kMaxChoices) return SetUndecided(result, i);
      for (uint64_t k = low; k != high + 1; ++k) {
        scalar.SetInteger(0, static_cast<int64_t>(k));
        codes.push_back(scalar.GetBits(0));
      }
    }
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if ((range.flags & kMayBePosInf) != 0) codes.push_back(convert(kInfinity, 0).GetBits(0));
  if ((range.flags & kMayBeNegInf) != 0) codes.push_back(convert(-kInfinity, 0).GetBits(0));
  if ((range.flags & kMayBeNan) != 0) codes.push_back(0);
  SetCodes(result, i, std::move(codes));
}

absl::Status BoundStochasticConvert(const OpContext& op, Array& result) {
  for (int64_t i = 0; i < op.count(); ++i) {
    const Range<double> x = SeenAny(op, op.array(0), i);
    if (IsFloat(op.type())) {
      BoundStochasticFloat(op, i, x, result);
    } else {
      BoundStochasticInteger(op, i, x, result);
    }
  }
  return absl::OkStatus();
}

}  // namespace

uint64_t ReducePrecision(const FloatFormat& format, int exponent_bits, int mantissa_bits,
                         uint64_t code) {
  if (format.special == SpecialValues::kExponent) return code;  // the format has no bits to drop
  const uint64_t sign_bit = uint64_t{1} << (format.exponent_bits + format.mantissa_bits);
  const uint64_t sign = code & sign_bit;
  // An overflow becomes an infinity, or the code that the format has instead.
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (IsNanCode(format, code)) return mantissa_bits > 0 ? code : EncodeFloat(format, kInfinity);
  const uint64_t overflow = EncodeFloat(format, sign != 0 ? -kInfinity : kInfinity);
  uint64_t magnitude = code & (sign_bit - 1);
  if (mantissa_bits < format.mantissa_bits) {
    const int dropped = format.mantissa_bits - mantissa_bits;
    const uint64_t odd = magnitude >> dropped & 1;
    magnitude += (uint64_t{1} << (dropped - 1)) - 1 + odd;
    magnitude &= ~((uint64_t{1} << dropped) - 1);
  }
  if (magnitude > EncodeFloat(format, format.MaxFinite())) return overflow;
  if (exponent_bits < format.exponent_bits) {
    const int64_t bias = format.bias;
    const int64_t reduced_bias = (int64_t{1} << (exponent_bits - 1)) - 1;
    const auto field = static_cast<int64_t>(magnitude >> format.mantissa_bits);
    if (field > bias + reduced_bias) return overflow;
    if (field <= bias - reduced_bias) magnitude = 0;
  }
  if (magnitude == 0 && !format.HasNegativeZero()) return 0;
  return sign | magnitude;
}

absl::Span<const OpEvaluation> ConvertEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {.opcode = Opcode::kConvert,
       .evaluate = EvaluateConvert,
       .bound = BoundConvert<EvaluateConvert>,
       .any_type = true},
      {.opcode = Opcode::kBitcastConvert,
       .evaluate = EvaluateBitcastConvert,
       .bound = BoundBitcastConvert},
      {.opcode = Opcode::kReducePrecision,
       .evaluate = EvaluateReducePrecision,
       .bound = BoundReducePrecision,
       .any_type = true},
      {.opcode = Opcode::kStochasticConvert,
       .evaluate = EvaluateStochasticConvert,
       .bound = BoundStochasticConvert,
       .any_type = true},
  };
  return kRows;
}

}  // namespace assay::reference
