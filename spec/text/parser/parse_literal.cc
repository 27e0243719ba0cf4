// Literals. Document: hlo-format chapters 5.2 and 5.3.
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "spec/base/strings.h"
#include "spec/text/parser/parser.h"

namespace assay::text_internal {
namespace {

// The real value of `text`, rounded once; nullopt when it is no number or beyond double.
std::optional<double> ParseDouble(std::string_view text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    // Either end of the range: only underflow has a value.
    value = std::strtod(std::string(text).c_str(), nullptr);
    if (std::isinf(value)) return std::nullopt;
    return value;
  }
  if (error != std::errc()) return std::nullopt;
  return value;
}

bool HasPayload(const FloatFormat& format) {
  return format.special == SpecialValues::kIeee && format.mantissa_bits >= 1;
}

}  // namespace

bool Parser::ParseLiteral(const Shape& shape, Literal* literal) {
  if (!shape.IsTuple()) return ParseArrayLiteral(shape, literal);
  Nesting nesting(this);
  if (nesting.TooDeep()) return TooDeep();
  if (!Expect('(', "the start of a tuple's value")) return false;
  std::vector<Literal> elements;
  elements.reserve(shape.elements().size());
  for (const Shape& element : shape.elements()) {
    if (!elements.empty()) lexer_.Accept(',');
    if (!ParseLiteral(element, &elements.emplace_back())) return false;
  }
  *literal = Literal::Tuple(std::move(elements));
  return Expect(')', StrCat("the ", shape.elements().size(), " elements of a tuple's value"));
}

bool Parser::ParseArrayLiteral(const Shape& shape, Literal* literal) {
  if (!shape.IsArray()) {
    return FailHere(StrCat("a value of shape ", shape.ToString(), " cannot be written"));
  }
  // An element takes a character at least, so that the text bounds what is allocated.
  int64_t count = shape.ElementCount();
  int64_t left = static_cast<int64_t>(lexer_.text().size() - lexer_.position());
  if (count > left) {
    return FailHere(StrCat("fewer values than the ", count, " of ", shape.ToString()));
  }
  literal_bytes_ += shape.ByteSize();
  if (literal_bytes_ > options_.literal_byte_limit) {
    return FailHere(StrCat("the constants of the module take more than the limit of ",
                           options_.literal_byte_limit, " bytes"));
  }
  absl::StatusOr<Literal> created = Literal::Create(shape, options_.literal_byte_limit);
  if (!created.ok()) return FailHere(std::string(ToStd(created.status().message())));
  *literal = *std::move(created);
  int64_t next = 0;
  // An array of one element is read without its braces, too.
  const bool bare = shape.rank() == 0 || (count == 1 && lexer_.Peek() != '{');
  return bare ? ParseElement(literal, 0) : ParseArrayLevel(0, literal, &next);
}

bool Parser::ParseArrayLevel(int64_t level, Literal* literal, int64_t* next) {
  Nesting nesting(this);
  if (nesting.TooDeep()) return TooDeep();
  const Shape& shape = literal->shape();
  bool innermost = level + 1 == shape.rank();
  size_t open = lexer_.Skip();
  if (!lexer_.Accept('{')) {
    return Unexpected(
        StrCat("'{': values of ", shape.ToString(), " have braces ", shape.rank(), " deep"));
  }
  for (int64_t i = 0; i < shape.dimension(level); ++i) {
    lexer_.Accept(',');
    if (lexer_.Peek() == '}') {
      return FailHere(StrCat("dimension ", level, " of ", shape.ToString(), " has ",
                             shape.dimension(level), " entries; this level has ", i));
    }
    if (innermost ? !ParseElement(literal, (*next)++)
                  : !ParseArrayLevel(level + 1, literal, next)) {
      return false;
    }
  }
  lexer_.Accept(',');
  if (lexer_.Accept('}')) return true;
  if (lexer_.AtEnd()) return Fail(open, "brace is not closed");
  return FailHere(StrCat("more than the ", shape.dimension(level), " entries of dimension ", level,
                         " of ", shape.ToString()),
                  "'}'");
}

bool Parser::ParseElement(Literal* literal, int64_t index) {
  ElementType type = literal->element_type();
  switch (ClassOf(type)) {
    case TypeClass::kPred:
      return ParsePred(literal, index);
    case TypeClass::kSigned:
    case TypeClass::kUnsigned:
      return ParseInteger(type, literal, index);
    case TypeClass::kComplex:
      return ParseComplex(literal, index);
    default: {
      uint64_t code = 0;
      if (!ParseFloatCode(type, &code)) return false;
      literal->SetBits(index, code);
      return true;
    }
  }
}

bool Parser::ParsePred(Literal* literal, int64_t index) {
  bool value = false;
  if (IsDigit(lexer_.Peek()) || lexer_.Peek() == '-') {
    int64_t integer = 0;
    if (!ParseInteger(&integer)) return false;
    value = integer != 0;
  } else if (!lexer_.AcceptWord("false")) {
    if (!lexer_.AcceptWord("true")) return Unexpected("a value of pred: true, false, 0 or 1");
    value = true;
  }
  literal->SetBits(index, value ? 1 : 0);
  return true;
}

bool Parser::ParseInteger(ElementType type, Literal* literal, int64_t index) {
  size_t position = lexer_.Skip();
  bool negative = lexer_.Peek() == '-';
  if (!negative && !IsDigit(lexer_.Peek())) {
    return Unexpected(StrCat("an integer, a value of ", Name(type)));
  }
  std::optional<int64_t> value = lexer_.Integer();
  char next = lexer_.position() < lexer_.text().size() ? lexer_.text()[lexer_.position()] : '\0';
  if (next == '.' || IsWordStart(next)) {
    return Fail(position, StrCat("not an integer, in a value of ", Name(type)));
  }
  int width = BitWidth(type);
  bool fits = value.has_value();
  if (fits && width < 64) {
    int64_t low = IsSigned(type) ? -(int64_t{1} << (width - 1)) : 0;
    int64_t high = (int64_t{1} << (IsSigned(type) ? width - 1 : width)) - 1;
    fits = *value >= low && *value <= high;
  } else if (fits && IsSigned(type)) {
    fits = negative == (*value < 0) || *value == 0;  // above 2^63-1 the bits wrap
  }
  if (!fits) return Fail(position, StrCat("value is out of the range of ", Name(type)));
  literal->SetInteger(index, *value);
  return true;
}

bool Parser::ParseComplex(Literal* literal, int64_t index) {
  ElementType part = ComponentType(literal->element_type());
  uint64_t real = 0, imaginary = 0;
  if (!lexer_.Accept('(')) {
    return Unexpected("'(': a complex value is written (real, imaginary)");
  }
  if (!ParseFloatCode(part, &real) || !Expect(',', "the real part") ||
      !ParseFloatCode(part, &imaginary) || !Expect(')', "the imaginary part")) {
    return false;
  }
  if (part == ElementType::kF32) {
    literal->SetBits(index, imaginary << 32 | real);
  } else {
    literal->data<std::complex<double>>()[index] = {std::bit_cast<double>(real),
                                                    std::bit_cast<double>(imaginary)};
  }
  return true;
}

bool Parser::ParseFloatCode(ElementType type, uint64_t* code) {
  const FloatFormat& format = Format(type);
  size_t position = lexer_.Skip();
  std::string_view number = lexer_.Number();
  if (number.empty()) return Unexpected(StrCat("a value of ", Name(type)));
  std::string_view unsigned_part = number.substr(number[0] == '-' ? 1 : 0);
  if (unsigned_part.starts_with("nan")) return ParseNan(type, number, position, code);
  if (unsigned_part == "inf") {
    // A type without infinity has what a conversion makes of it: its NaN, or its largest number.
    *code = EncodeFloat(format, number[0] == '-' ? -HUGE_VAL : HUGE_VAL);
    return true;
  }
  if (!IsDigit(unsigned_part.empty() ? '\0' : unsigned_part[0])) {
    lexer_.Seek(position);
    return Unexpected(StrCat("a value of ", Name(type)));
  }
  std::optional<double> value = ParseDouble(number);
  if (!value.has_value()) {
    return Fail(position, StrCat("'", number.substr(0, 40), "' is no number that f64 can hold"));
  }
  if (type == ElementType::kF64) {
    *code = std::bit_cast<uint64_t>(*value);
  } else {
    *code = EncodeFloat(format, *value);
    if (!std::isfinite(DecodeFloat(format, *code))) {
      return Fail(position, StrCat("value is out of the range of ", Name(type)));
    }
  }
  return true;
}

bool Parser::ParseNan(ElementType type, std::string_view number, size_t position, uint64_t* code) {
  const FloatFormat& format = Format(type);
  if (!format.HasNan()) return Fail(position, StrCat(Name(type), " has no NaN"));
  bool negative = number[0] == '-';
  *code = QuietNan(format, negative);
  std::string_view payload = number.substr(negative ? 4 : 3);
  if (payload.empty()) return true;
  if (!payload.starts_with("(0x") || !payload.ends_with(")")) {
    return Fail(position, StrCat("'", number.substr(0, 40), "' is no NaN"), "nan or nan(0x123)");
  }
  if (!HasPayload(format)) {
    return Fail(position, StrCat("NaNs of ", Name(type), " have no payload"), "nan");
  }
  payload = payload.substr(3, payload.size() - 4);
  uint64_t bits = 0;
  auto [end, error] = std::from_chars(payload.data(), payload.data() + payload.size(), bits, 16);
  if (error != std::errc() || end != payload.data() + payload.size() || bits == 0 ||
      bits >> format.mantissa_bits != 0) {
    return Fail(position, StrCat("NaN payload of ", Name(type), " must be non-zero and fit ",
                                 format.mantissa_bits, " bits"));
  }
  uint64_t mantissa = (uint64_t{1} << format.mantissa_bits) - 1;
  *code = (*code & ~mantissa) | bits;
  return true;
}

}  // namespace assay::text_internal
