// Conversions between element types. Document: operation semantics chapter 8.
#include <cmath>
#include <limits>

#include "reference/bounds/convert.h"
#include "reference/convert_ops.h"
#include "reference/elementwise.h"
#include "spec/backend/error.h"
#include "spec/base/strings.h"

namespace assay::reference {
namespace {

// By the formats of the types: from the exact value of a float, or from an integer of any size.
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

absl::Status EvaluateConvert(const OpContext& op, Literal& result) {
  const ElementType from = op.literal(0).element_type(), to = op.type();
  if (from == to) {
    std::memcpy(result.bytes().data(), op.literal(0).bytes().data(), result.bytes().size());
    return absl::OkStatus();
  }
  if (!IsComputed(from) || !IsComputed(to)) {
    ConvertByFormat(op.literal(0), result);
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

// Logical bits of an array, least significant first within an element; a predicate is one bit.
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

}  // namespace

uint64_t ReducePrecision(const FloatFormat& format, int exponent_bits, int mantissa_bits,
                         uint64_t code) {
  if (format.special == SpecialValues::kExponent) return code;  // it has no bits to drop
  const uint64_t sign_bit = uint64_t{1} << (format.exponent_bits + format.mantissa_bits);
  const uint64_t sign = code & sign_bit;
  // What an overflow becomes: an infinity, or what the format has instead.
  const uint64_t overflow =
      EncodeFloat(format, sign != 0 ? -std::numeric_limits<double>::infinity()
                                    : std::numeric_limits<double>::infinity());
  if (IsNanCode(format, code)) return mantissa_bits > 0 ? code : overflow;
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
      {Opcode::kConvert, EvaluateConvert, BoundConvert<EvaluateConvert>, nullptr, nullptr, true},
      {Opcode::kBitcastConvert, EvaluateBitcastConvert, BoundBitcastConvert},
      {Opcode::kReducePrecision, EvaluateReducePrecision, BoundReducePrecision, nullptr, nullptr,
       true},
  };
  return kRows;
}

}  // namespace assay::reference
