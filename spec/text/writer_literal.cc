// Literals as text. Document: hlo-format chapter 5.4.
#include <bit>
#include <charconv>
#include <cmath>

#include "spec/base/strings.h"
#include "spec/text/writer_internal.h"

namespace assay {
namespace {

using text_internal::AppendInteger;

// Appends what printf's %.<digits>g prints.
void AppendGeneral(std::string& out, double value, int digits) {
  char buffer[64];
  auto result =
      std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::general, digits);
  out.append(buffer, result.ptr);
}

// Digits that tell every value of the format from its neighbours.
int MaxDigits(const FloatFormat& format) {
  return static_cast<int>(std::ceil(1 + format.precision() * 0.30102999566398119521));
}

double ReadBack(const std::string& text, size_t start) {
  double value = 0;
  std::from_chars(text.data() + start, text.data() + text.size(), value);
  return value;
}

void AppendNan(std::string& out, const FloatFormat& format, uint64_t code) {
  bool negative = code != QuietNan(format) && format.HasNegativeZero() &&
                  (code >> (format.bits() - 1) & 1) != 0;
  out += negative ? "-nan" : "nan";
  if (code == QuietNan(format, negative)) return;
  uint64_t payload = code & ((uint64_t{1} << format.mantissa_bits) - 1);
  char buffer[24];
  auto result = std::to_chars(buffer, buffer + sizeof(buffer), payload, 16);
  out += "(0x";
  out.append(buffer, result.ptr);
  out += ')';
}

void AppendFloat(std::string& out, ElementType type, uint64_t code) {
  const FloatFormat& format = Format(type);
  if (IsNanCode(format, code)) {
    AppendNan(out, format, code);
    return;
  }
  double value = DecodeFloat(format, code);
  if (std::isinf(value)) {
    out += value < 0 ? "-inf" : "inf";
    return;
  }
  if (std::fabs(value) < 1e5 && value == std::trunc(value) && !std::signbit(value) &&
      (type == ElementType::kF32 || type == ElementType::kF64)) {
    AppendInteger(out, static_cast<int64_t>(value));
    return;
  }
  // f32 and f64 are shown short where that is the same value; the narrow types always in full.
  size_t start = out.size();
  if (type == ElementType::kF32) {
    AppendGeneral(out, value, 6);
    if (static_cast<float>(ReadBack(out, start)) == static_cast<float>(value)) return;
  } else if (type == ElementType::kF64) {
    AppendGeneral(out, value, 15);
    if (ReadBack(out, start) == value) return;
  }
  out.resize(start);
  AppendGeneral(out, value, MaxDigits(format));
}

void AppendComplex(std::string& out, const Literal& literal, int64_t i) {
  ElementType part = ComponentType(literal.element_type());
  uint64_t real = 0, imaginary = 0;
  if (part == ElementType::kF32) {
    uint64_t bits = literal.GetBits(i);
    real = bits & 0xFFFFFFFFu;
    imaginary = bits >> 32;
  } else {
    std::complex<double> value = literal.data<std::complex<double>>()[i];
    real = std::bit_cast<uint64_t>(value.real());
    imaginary = std::bit_cast<uint64_t>(value.imag());
  }
  out += '(';
  AppendFloat(out, part, real);
  out += ", ";
  AppendFloat(out, part, imaginary);
  out += ')';
}

void AppendElement(std::string& out, const Literal& literal, int64_t i) {
  ElementType type = literal.element_type();
  switch (ClassOf(type)) {
    case TypeClass::kPred:
      if (literal.shape().rank() == 0) {
        out += literal.GetBits(i) != 0 ? "true" : "false";
      } else {
        out += literal.GetBits(i) != 0 ? '1' : '0';
      }
      return;
    case TypeClass::kUnsigned: {
      char buffer[24];
      auto result = std::to_chars(buffer, buffer + sizeof(buffer), literal.GetBits(i));
      out.append(buffer, result.ptr);
      return;
    }
    case TypeClass::kSigned:
      AppendInteger(out, literal.GetInteger(i));
      return;
    case TypeClass::kComplex:
      AppendComplex(out, literal, i);
      return;
    default:
      AppendFloat(out, type, literal.GetBits(i));
  }
}

// One brace level; `index` is the position on the level above.
void AppendLevel(std::string& out, const Literal& literal, int64_t level, int64_t index,
                 int64_t* next) {
  const Shape& shape = literal.shape();
  int64_t size = shape.dimension(level);
  bool innermost = level + 1 == shape.rank();
  if (innermost) {
    bool tight = shape.rank() == 1 || size <= 1;
    out += tight ? "{" : "{ ";
    for (int64_t i = 0; i < size; ++i) {
      if (i > 0) out += ", ";
      AppendElement(out, literal, (*next)++);
    }
    out += tight ? "}" : " }";
    return;
  }
  out += "{ ";
  // Deep arrays say where a level stands, as XLA does.
  if (shape.rank() > 3 && level > 0) StrAppend(&out, "/*i", level - 1, "=", index, "*/ ");
  for (int64_t i = 0; i < size; ++i) {
    if (i > 0) out += ", ";
    AppendLevel(out, literal, level + 1, i, next);
  }
  out += " }";
}

}  // namespace

void AppendLiteral(std::string& out, const Literal& literal) {
  const Shape& shape = literal.shape();
  if (shape.IsTuple()) {
    // "()" would not be told from an empty list of operands by a reader of older XLA.
    out += literal.elements().empty() ? "(" : "( ";
    for (size_t i = 0; i < literal.elements().size(); ++i) {
      if (i > 0) out += ", ";
      AppendLiteral(out, literal.elements()[i]);
    }
    out += literal.elements().empty() ? ")" : " )";
  } else if (!shape.IsArray()) {
    out += Name(shape.element_type());
  } else if (shape.rank() == 0) {
    AppendElement(out, literal, 0);
  } else {
    int64_t next = 0;
    AppendLevel(out, literal, 0, 0, &next);
  }
}

std::string WriteLiteral(const Literal& literal) {
  std::string out;
  AppendLiteral(out, literal);
  return out;
}

}  // namespace assay
