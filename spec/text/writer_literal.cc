// Literals as HLO text. Document: hlo-format chapter 5.4.
#include <charconv>
#include <cmath>
#include <cstdio>

#include "spec/text/writer.h"

namespace assay {
namespace {

void AppendInteger(std::string& out, int64_t value) {
  char buffer[24];
  auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  out.append(buffer, end);
}

void AppendUnsigned(std::string& out, uint64_t value) {
  char buffer[24];
  auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  out.append(buffer, end);
}

// Significant decimal digits that tell all values of the format apart.
int MaxDigits(const FloatFormat& format) {
  return static_cast<int>(std::ceil(1 + format.precision() * 0.30103));
}

void AppendNan(std::string& out, const FloatFormat& format, uint64_t code) {
  bool negative = format.special != SpecialValues::kFnuz &&
                  format.special != SpecialValues::kExponent &&
                  (code >> (format.bits() - 1) & 1) != 0;
  out += negative ? "-nan" : "nan";
  if (format.special != SpecialValues::kIeee || code == QuietNan(format, negative)) return;
  uint64_t payload = code & ((uint64_t{1} << format.mantissa_bits) - 1);
  char buffer[24];
  std::snprintf(buffer, sizeof(buffer), "(0x%llx)", static_cast<unsigned long long>(payload));
  out += buffer;
}

void AppendFloat(std::string& out, const FloatFormat& format, uint64_t code) {
  if (IsNanCode(format, code)) {
    AppendNan(out, format, code);
    return;
  }
  double value = DecodeFloat(format, code);
  if (std::isinf(value)) {
    out += value < 0 ? "-inf" : "inf";
    return;
  }
  char buffer[40];
  int digits = MaxDigits(format);
  // Small integers are by far the most common and need no search.
  if (value == std::trunc(value) && std::fabs(value) < 1e5) {
    if (value == 0 && std::signbit(value)) {
      out += "-0";
    } else {
      AppendInteger(out, static_cast<int64_t>(value));
    }
    return;
  }
  bool wide = format.type == ElementType::kF32 || format.type == ElementType::kF64;
  if (wide) {
    int fewer = format.type == ElementType::kF32 ? 6 : 15;
    std::snprintf(buffer, sizeof(buffer), "%.*g", fewer, value);
    if (EncodeFloat(format, std::strtod(buffer, nullptr)) == code) {
      out += buffer;
      return;
    }
    digits = format.type == ElementType::kF32 ? 9 : 17;
  }
  std::snprintf(buffer, sizeof(buffer), "%.*g", digits, value);
  out += buffer;
}

void AppendElement(std::string& out, const Literal& literal, int64_t i, bool scalar) {
  ElementType type = literal.element_type();
  switch (ClassOf(type)) {
    case TypeClass::kPred:
      out += scalar ? (literal.GetBits(i) != 0 ? "true" : "false")
                    : (literal.GetBits(i) != 0 ? "1" : "0");
      break;
    case TypeClass::kSigned:
      AppendInteger(out, literal.GetInteger(i));
      break;
    case TypeClass::kUnsigned:
      AppendUnsigned(out, literal.GetBits(i));
      break;
    case TypeClass::kFloat:
      AppendFloat(out, Format(type), literal.GetBits(i));
      break;
    case TypeClass::kComplex: {
      const FloatFormat& format = Format(ComponentType(type));
      const uint8_t* at = literal.bytes().data() + i * StorageBytes(type);
      int part = StorageBytes(type) / 2;
      uint64_t re = 0, im = 0;
      std::memcpy(&re, at, part);
      std::memcpy(&im, at + part, part);
      out += '(';
      AppendFloat(out, format, re);
      out += ", ";
      AppendFloat(out, format, im);
      out += ')';
      break;
    }
    case TypeClass::kOther:
      break;
  }
}

// Braces of dimension `depth`; `next` counts the elements written.
void AppendBraces(std::string& out, const Literal& literal, int64_t depth, int64_t& next) {
  const Shape& shape = literal.shape();
  int64_t rank = shape.rank(), size = shape.dimension(depth);
  bool innermost = depth + 1 == rank;
  if (innermost) {
    bool tight = rank == 1 || size == 1;
    out += tight ? "{" : "{ ";
    for (int64_t i = 0; i < size; ++i) {
      if (i > 0) out += ", ";
      AppendElement(out, literal, next++, false);
    }
    out += tight ? "}" : " }";
    return;
  }
  out += "{ ";
  for (int64_t i = 0; i < size; ++i) {
    if (i > 0) out += ", ";
    // Deep values say where they are.
    if (rank > 3 && depth + 2 < rank) {
      out += "/*i";
      AppendInteger(out, depth);
      out += '=';
      AppendInteger(out, i);
      out += "*/ ";
    }
    AppendBraces(out, literal, depth + 1, next);
  }
  out += " }";
}

}  // namespace

void AppendLiteral(std::string& out, const Literal& literal) {
  if (literal.shape().IsTuple()) {
    out += '(';
    for (size_t i = 0; i < literal.elements().size(); ++i) {
      out += i == 0 ? " " : ", ";
      AppendLiteral(out, literal.elements()[i]);
    }
    out += literal.elements().empty() ? ")" : " )";
    return;
  }
  if (!literal.shape().IsArray()) return;
  if (literal.shape().rank() == 0) {
    AppendElement(out, literal, 0, true);
    return;
  }
  int64_t next = 0;
  AppendBraces(out, literal, 0, next);
}

std::string WriteLiteral(const Literal& literal) {
  std::string out;
  AppendLiteral(out, literal);
  return out;
}

}  // namespace assay
