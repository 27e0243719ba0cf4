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

absl::Status EvaluateConvert(const OpContext& op, Literal& result) {
  const ElementType from = op.literal(0).element_type(), to = op.type();
  bool done = false;
  DispatchComputed(from, [&](auto from_tag) {
    using From = typename decltype(from_tag)::type;
    DispatchComputed(to, [&](auto to_tag) {
      using To = typename decltype(to_tag)::type;
      MapUnary<From>(op.literal(0), result, [](From x) { return ConvertElement<To>(x); });
      done = true;
    });
  });
  return done ? absl::OkStatus() : UnsupportedType(op, IsComputed(from) ? to : from);
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
  for (ElementType type : {operand.element_type(), op.type()})
    if (!IsComputed(type)) return UnsupportedType(op, type);
  if (IsPred(operand.element_type()) == IsPred(op.type())) {
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
  if (!IsComputed(op.type())) return UnsupportedType(op, op.type());
  for (int64_t i = 0; i < result.element_count(); ++i)
    result.SetBits(i,
                   ReducePrecision(format, exponent_bits, mantissa_bits, op.literal(0).GetBits(i)));
  return absl::OkStatus();
}

}  // namespace

uint64_t ReducePrecision(const FloatFormat& format, int exponent_bits, int mantissa_bits,
                         uint64_t code) {
  const uint64_t sign_bit = uint64_t{1} << (format.exponent_bits + format.mantissa_bits);
  const uint64_t infinity = ((uint64_t{1} << format.exponent_bits) - 1) << format.mantissa_bits;
  const uint64_t sign = code & sign_bit;
  uint64_t magnitude = code & (sign_bit - 1);
  if (magnitude > infinity) return mantissa_bits > 0 ? code : infinity;
  if (mantissa_bits < format.mantissa_bits) {
    const int dropped = format.mantissa_bits - mantissa_bits;
    const uint64_t odd = magnitude >> dropped & 1;
    magnitude += (uint64_t{1} << (dropped - 1)) - 1 + odd;
    magnitude &= ~((uint64_t{1} << dropped) - 1);
  }
  if (exponent_bits < format.exponent_bits) {
    const int64_t bias = format.bias;
    const int64_t reduced_bias = (int64_t{1} << (exponent_bits - 1)) - 1;
    const auto field = static_cast<int64_t>(magnitude >> format.mantissa_bits);
    if (field > bias + reduced_bias) magnitude = infinity;
    if (field <= bias - reduced_bias) magnitude = 0;
  }
  return sign | magnitude;
}

absl::Span<const OpEvaluation> ConvertEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {Opcode::kConvert, EvaluateConvert, BoundConvert<EvaluateConvert>},
      {Opcode::kBitcastConvert, EvaluateBitcastConvert, BoundBitcastConvert},
      {Opcode::kReducePrecision, EvaluateReducePrecision, BoundReducePrecision},
  };
  return kRows;
}

}  // namespace assay::reference
