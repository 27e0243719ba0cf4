// Draws the elements of inputs and constants by family.
#include "fuzz/generator/values.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "spec/types/float_format.h"

namespace assay {
namespace {

constexpr std::array<std::string_view, kValueFamilyCount> kNames = {
    "exact", "ordinary", "wide", "specials", "one-special", "iota", "all-equal", "alternating"};

uint64_t Below(RandomStream& stream, uint64_t bound) { return stream.Next() % bound; }

uint64_t EdgeOfInteger(ElementType type, RandomStream& stream) {
  int bits = BitWidth(type);
  uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  uint64_t top = uint64_t{1} << (bits - 1);
  switch (Below(stream, 8)) {
    case 0:
      return 0;
    case 1:
      return 1;
    case 2:
      return mask;  // -1, or the greatest unsigned
    case 3:
      return top;  // least signed
    case 4:
      return top - 1;
    case 5:
      return (top + 1) & mask;
    case 6:
      return uint64_t{1} << Below(stream, bits);
    default:
      return ((uint64_t{1} << Below(stream, bits)) - 1) & mask;
  }
}

// Codes of a format, each with either sign.
constexpr size_t kEdges = 12;
using EdgeTable = std::array<std::array<uint64_t, 2>, kEdges>;

EdgeTable EdgesOf(const FloatFormat& format) {
  const double one_ulp = std::ldexp(1.0, -format.mantissa_bits);
  const double min_normal = format.MinNormal(), min_subnormal = format.MinSubnormal();
  const std::array<double, kEdges - 1> values = {0.0,
                                                 1,
                                                 1 + one_ulp,
                                                 1 - one_ulp / 2,
                                                 format.MaxFinite(),
                                                 min_normal,
                                                 min_normal - min_subnormal,
                                                 min_subnormal,
                                                 std::ldexp(1.0, format.precision()),
                                                 0.5,
                                                 HUGE_VAL};
  EdgeTable table;
  for (const size_t negative : {0, 1}) {
    for (size_t k = 0; k < values.size(); ++k) {
      table[k][negative] = EncodeFloat(format, negative != 0 ? -values[k] : values[k]);
    }
    table[values.size()][negative] = QuietNan(format, negative != 0);
  }
  return table;
}

uint64_t EdgeOfFloat(ElementType type, RandomStream& stream) {
  static const auto tables = [] {
    std::array<EdgeTable, kElementTypeCount> made = {};
    for (size_t k = 0; k < made.size(); ++k) {
      const auto of = static_cast<ElementType>(k);
      if (IsFloat(of)) made[k] = EdgesOf(Format(of));
    }
    return made;
  }();
  const uint64_t negative = Below(stream, 2);
  return tables[static_cast<size_t>(type)][Below(stream, kEdges)][negative];
}

// Comfortable: products of two values neither overflow nor underflow.
double WideFloat(ElementType type, RandomStream& stream) {
  int reach = type == ElementType::kF16 ? 6 : 30;
  const int exponent = static_cast<int>(Below(stream, 2 * reach + 1)) - reach;
  // All bits: what rounds to a narrower type loses some. They stand as they do in a double.
  const uint64_t mantissa = stream.Next() >> 12;
  const uint64_t negative = Below(stream, 2);
  return std::bit_cast<double>(negative << 63 | static_cast<uint64_t>(1023 + exponent) << 52 |
                               mantissa);
}

int64_t SmallInteger(ElementType type, RandomStream& stream) {
  int64_t value = static_cast<int64_t>(Below(stream, 11)) - 5;
  return IsUnsigned(type) && value < 0 ? -value : value;
}

// Mostly zeros and ones, so that even long products and sums stay exact.
int64_t ThinInteger(ElementType type, RandomStream& stream) {
  uint64_t at = Below(stream, 16);
  if (at < 6) return 0;
  if (at < 11) return 1;
  if (at < 13) return IsUnsigned(type) ? 2 : -1;
  return static_cast<int64_t>(Below(stream, 4)) + 1;
}

class Filler {
 public:
  Filler(Literal& literal, RandomStream stream)
      : literal_(literal), type_(literal.element_type()), stream_(stream) {
    // Away from zero in most arrays: minima, conjunctions and remainders of values around zero are
    // all zero.
    offset_ = Below(stream_, 3) == 0 ? 0 : 1 + static_cast<int64_t>(Below(stream_, 20));
    // One array of floats in ten has one sign: what begins at zero hides no maximum of it.
    const uint64_t of_ten = Below(stream_, 20);
    only_sign_ = of_ten == 0 ? 1 : of_ten == 1 ? -1 : 0;
    for (size_t k = 0; k < kQuarters && IsFloat(type_); ++k) {
      quarters_[k] = EncodeFloat(Format(type_), WithSign((static_cast<double>(k) - 16) / 4));
    }
  }

  void Fill(ValueFamily family) {
    if (IsPred(type_)) return FillPred(family);
    switch (family) {
      case ValueFamily::kIota:
        return FillIota();
      case ValueFamily::kAllEqual:
        return FillAllEqual();
      case ValueFamily::kAlternating:
        return FillAlternating();
      case ValueFamily::kOneSpecial:
        return FillOneSpecial();
      default:
        break;
    }
    if (family == ValueFamily::kExact) {
      std::array<uint64_t, 6> thin;
      for (size_t k = 0; k < thin.size(); ++k) thin[k] = CodeOf(static_cast<int64_t>(k) - 1);
      StoreAll([&](RandomStream& stream) {
        return thin[static_cast<size_t>(ThinInteger(type_, stream) + 1)];
      });
    } else if (family == ValueFamily::kSpecials) {
      StoreAll([&](RandomStream& stream) {
        return Below(stream, 6) == 0 ? EdgeCode(type_, stream) : Ordinary(stream);
      });
    } else if (family == ValueFamily::kWide) {
      StoreAll([&](RandomStream& stream) { return Wide(stream); });
    } else {
      StoreAll([&](RandomStream& stream) { return Ordinary(stream); });
    }
  }

 private:
  // Draws a code for every element, in order. One decision about the type serves them all: large
  // arrays take a good part of what a program costs that is not compiled here.
  template <typename Draw>
  void StoreAll(Draw draw) {
    const bool is_narrow = BitWidth(type_) < 8;
    switch (is_narrow ? 0 : StorageBytes(type_)) {
      case 1:
        return StoreAllAs<uint8_t>(draw);
      case 2:
        return StoreAllAs<uint16_t>(draw);
      case 4:
        return StoreAllAs<uint32_t>(draw);
      case 8:
        return StoreAllAs<uint64_t>(draw);
      default:
        for (int64_t i = 0; i < literal_.element_count(); ++i) literal_.SetBits(i, draw(stream_));
    }
  }
  // The stream is a local one meanwhile: bytes that are written could lie in a member, for all that
  // a compiler knows.
  template <typename Unit, typename Draw>
  void StoreAllAs(Draw draw) {
    RandomStream stream = stream_;
    const absl::Span<uint8_t> bytes = literal_.bytes();
    for (size_t at = 0; at < bytes.size(); at += sizeof(Unit)) {
      const Unit code = static_cast<Unit>(draw(stream));
      std::memcpy(&bytes[at], &code, sizeof(Unit));
    }
    stream_ = stream;
  }

  double WithSign(double value) const {
    return only_sign_ == 0 ? value : std::copysign(value, only_sign_);
  }
  void FillPred(ValueFamily family) {
    uint64_t constant = Below(stream_, 2);
    for (int64_t i = 0; i < literal_.element_count(); ++i) {
      uint64_t bit = family == ValueFamily::kAllEqual      ? constant
                     : family == ValueFamily::kAlternating ? static_cast<uint64_t>(i % 2)
                     : family == ValueFamily::kIota        ? static_cast<uint64_t>(i != 0)
                                                           : Below(stream_, 2);
      literal_.SetBits(i, bit);
    }
  }
  void FillIota() {
    int64_t start = SmallInteger(type_, stream_);
    for (int64_t i = 0; i < literal_.element_count(); ++i) SetInteger(i, start + i);
  }
  void FillAllEqual() {
    if (literal_.element_count() == 0) return;
    StoreAll([code = Ordinary(stream_)](RandomStream&) { return code; });
  }
  void FillAlternating() {
    int64_t value = 1 + static_cast<int64_t>(Below(stream_, 5));
    for (int64_t i = 0; i < literal_.element_count(); ++i) {
      SetInteger(i, i % 2 == 0 ? value : IsUnsigned(type_) ? 0 : -value);
    }
  }
  void FillOneSpecial() {
    int64_t count = literal_.element_count();
    StoreAll([&](RandomStream& stream) { return Ordinary(stream); });
    if (count == 0) return;
    uint64_t where = Below(stream_, 3);
    int64_t at = where == 0   ? 0
                 : where == 1 ? count - 1
                              : static_cast<int64_t>(Below(stream_, count));
    literal_.SetBits(at, EdgeCode(type_, stream_));
  }

  void SetInteger(int64_t i, int64_t value) {
    if (IsFloat(type_)) {
      literal_.SetDouble(i, static_cast<double>(value));
    } else {
      literal_.SetInteger(i, value);
    }
  }
  // The code of a small integer, or of an integer without the bits that the type does not have.
  uint64_t CodeOf(int64_t value) const {
    if (IsFloat(type_)) return EncodeFloat(Format(type_), static_cast<double>(value));
    const int width = BitWidth(type_);
    const uint64_t all = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
    return static_cast<uint64_t>(value) & all;
  }
  uint64_t Ordinary(RandomStream& stream) const {
    if (IsFloat(type_)) return quarters_[Below(stream, kQuarters)];
    return CodeOf(offset_ + SmallInteger(type_, stream));
  }
  uint64_t Wide(RandomStream& stream) const {
    if (!IsFloat(type_)) return CodeOf(static_cast<int64_t>(stream.Next()));
    Below(stream, kQuarters);
    return EncodeFloat(Format(type_), WithSign(WideFloat(type_, stream)));
  }

  Literal& literal_;
  ElementType type_;
  RandomStream stream_;
  int64_t offset_ = 0;
  double only_sign_ = 0;  // 1 or -1; 0: both
  // Codes of the ordinary numbers, from -4 to 4 in quarters.
  static constexpr size_t kQuarters = 33;
  std::array<uint64_t, kQuarters> quarters_ = {};
};

// The real numbers of an array of complex ones.
Shape PartsOf(const Shape& shape) {
  return Shape::Array(ComponentType(shape.element_type()), {2 * shape.ElementCount()});
}

}  // namespace

Literal LiteralWithEdges(const Shape& shape, int64_t first, int64_t every, Choices& choices) {
  Literal literal = LiteralOfFamily(shape, ValueFamily::kOrdinary, choices);
  RandomStream stream = choices.Fork();
  const ElementType part =
      IsComplex(shape.element_type()) ? ComponentType(shape.element_type()) : shape.element_type();
  const int64_t count = literal.component_count();
  for (int64_t k = count == 1 ? 0 : first; k < count; k += every) {
    literal.SetComponentBits(k, EdgeCode(part, stream));
  }
  return literal;
}

std::string_view Name(ValueFamily family) { return kNames[static_cast<size_t>(family)]; }

Literal LiteralOfFamily(const Shape& shape, ValueFamily family, Choices& choices) {
  Literal literal(shape);
  if (IsComplex(shape.element_type())) {
    const Literal parts = LiteralOfFamily(PartsOf(shape), family, choices);
    for (int64_t k = 0; k < literal.component_count(); ++k) {
      literal.SetComponentBits(k, parts.GetBits(k));
    }
    return literal;
  }
  Filler(literal, choices.Fork()).Fill(family);
  return literal;
}

uint64_t EdgeCode(ElementType type, RandomStream& stream) {
  if (IsPred(type)) return Below(stream, 2);
  return IsFloat(type) ? EdgeOfFloat(type, stream) : EdgeOfInteger(type, stream);
}

namespace {

// An end of an integer type of any width, or a neighbour of one.
int64_t EndOfSomeType(RandomStream& stream) {
  constexpr std::array<int, 9> kWidths = {2, 4, 7, 8, 15, 16, 24, 31, 32};
  const int64_t end = int64_t{1} << kWidths[Below(stream, kWidths.size())];
  const int64_t beside = end + static_cast<int64_t>(Below(stream, 3)) - 1;
  return Below(stream, 3) == 0 ? -beside : beside;
}

uint64_t BaitOfInteger(ElementType type, RandomStream& stream) {
  Literal value(Shape::Scalar(type));
  const uint64_t kind = Below(stream, 20);
  if (kind < 5) {
    value.SetInteger(0, SmallInteger(type, stream));
  } else if (kind < 9) {
    return EdgeCode(type, stream);
  } else if (kind < 14) {
    value.SetInteger(0, EndOfSomeType(stream));
  } else if (kind < 18) {
    // Amounts by which one shifts.
    constexpr std::array<int, 5> kWidths = {8, 16, 32, 64, 4};
    const int width = Below(stream, 2) == 0 ? BitWidth(type) : kWidths[Below(stream, 5)];
    value.SetInteger(0, width - 1 + static_cast<int64_t>(Below(stream, 3)));
  } else {
    value.SetInteger(0, static_cast<int64_t>(stream.Next()));
  }
  return value.GetBits(0);
}

uint64_t BaitOfFloat(ElementType type, RandomStream& stream) {
  const FloatFormat& format = Format(type);
  const double sign = Below(stream, 2) == 0 ? 1 : -1;
  const uint64_t kind = Below(stream, 20);
  if (kind < 1) return EncodeFloat(format, sign * 0.0);
  if (kind < 4) return EncodeFloat(format, static_cast<double>(SmallInteger(type, stream)));
  if (kind < 8) return EncodeFloat(format, sign * static_cast<double>(Below(stream, 33)) / 4);
  if (kind < 11) {
    constexpr std::array<double, 6> kInexact = {1.0 / 3, 3, 0.1, 7, 1e10, 2.0 / 7};
    return EncodeFloat(format, sign * kInexact[Below(stream, kInexact.size())]);
  }
  if (kind < 14) return EncodeFloat(format, static_cast<double>(EndOfSomeType(stream)));
  if (kind < 16) {
    const int reach = 2 * format.precision();
    return EncodeFloat(format,
                       sign * std::ldexp(1, static_cast<int>(Below(stream, reach)) - reach / 2));
  }
  if (kind < 19) return EdgeCode(type, stream);
  const int bits = BitWidth(type);
  return stream.Next() >> (64 - bits);
}

uint64_t BaitOf(ElementType type, RandomStream& stream) {
  if (IsPred(type)) return Below(stream, 2);
  return IsFloat(type) ? BaitOfFloat(type, stream) : BaitOfInteger(type, stream);
}

template <size_t kCount>
int64_t OneOf(const std::array<int64_t, kCount>& values, RandomStream& stream) {
  return values[Below(stream, kCount)];
}

// The integer that a rule about the second operand of the op may ask for; nothing: no rule does.
std::optional<int64_t> AskedFor(Opcode opcode, ElementType type, RandomStream& stream) {
  const int width = BitWidth(type);
  switch (opcode) {
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightArithmetic:
    case Opcode::kShiftRightLogical:
      return OneOf<12>({0, 1, 7, 8, 15, 16, 31, 32, width - 1, width, width + 1, -1}, stream);
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
      return OneOf<10>({1, 127, 255, 0, -1, -2, 65535, 7, MinOf(type), MaxOf(type)}, stream);
    case Opcode::kCompare:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kClamp:
      return OneOf<12>({MinOf(type), MaxOf(type), MinOf(type) + 1, 127, -128, -127, 255, 0, -1,
                        32767, -32768, 1},
                       stream);
    case Opcode::kDivide:
    case Opcode::kRemainder:
      return OneOf<10>({0, -1, 1, 2, 3, 4, 8, 16, 128, MinOf(type)}, stream);
    case Opcode::kPower:
      return OneOf<8>({0, 1, 2, 3, -1, -2, MinOf(type), -100}, stream);
    default:
      return std::nullopt;
  }
}

uint64_t BaitFor(Opcode opcode, ElementType type, RandomStream& stream) {
  const bool asks = IsInteger(type) && Below(stream, 2) == 0;
  const std::optional<int64_t> asked = asks ? AskedFor(opcode, type, stream) : std::nullopt;
  const bool compares = opcode == Opcode::kMaximum || opcode == Opcode::kMinimum ||
                        opcode == Opcode::kClamp || opcode == Opcode::kCompare;
  // Infinities, zeros of both signs, NaN.
  if (IsFloat(type) && compares && Below(stream, 3) == 0) return EdgeCode(type, stream);
  if (!asked) return BaitOf(type, stream);
  Literal value(Shape::Scalar(type));
  value.SetInteger(0, *asked);
  return value.GetBits(0);
}

// The types whose ends rules compare with.
constexpr std::array<ElementType, 12> kTypesWithEnds = {
    ElementType::kS2,  ElementType::kU2,  ElementType::kS4,  ElementType::kU4,
    ElementType::kS8,  ElementType::kU8,  ElementType::kS16, ElementType::kU16,
    ElementType::kS32, ElementType::kU32, ElementType::kS64, ElementType::kU64};

ElementType OfOtherSign(ElementType type) {
  for (size_t i = 0; i < kTypesWithEnds.size(); ++i)
    if (kTypesWithEnds[i] == type) return kTypesWithEnds[i ^ 1];
  return type;
}

int64_t EndOfIntegers(ElementType type, RandomStream& stream) {
  // Its own ends, those of the type of its width with the other sign, of any.
  const uint64_t kind = Below(stream, 6);
  const ElementType of = kind < 2    ? type
                         : kind == 2 ? OfOtherSign(type)
                                     : kTypesWithEnds[Below(stream, kTypesWithEnds.size())];
  return Below(stream, 2) == 0 ? MinOf(of) : MaxOf(of);
}

int64_t GridInteger(Opcode opcode, ElementType type, RandomStream& stream) {
  const uint64_t kind = Below(stream, 8);
  if (kind == 0) return static_cast<int64_t>(Below(stream, 9)) - 4;
  switch (opcode) {
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightArithmetic:
    case Opcode::kShiftRightLogical:
      if (kind < 3) return BitWidth(type) - 1 + static_cast<int64_t>(Below(stream, 3));
      return OneOf<14>({0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64, -1}, stream);
    case Opcode::kDivide:
    case Opcode::kRemainder:
    case Opcode::kMultiply: {
      if (kind < 3) return OneOf<12>({0, -1, 1, 3, 5, 7, 10, 60, 100, 127, 255, 1000}, stream);
      if (kind == 3) return EndOfIntegers(type, stream);
      const uint64_t power = uint64_t{1} << Below(stream, BitWidth(type));
      return static_cast<int64_t>(kind == 4 ? power - 1 : kind == 5 ? power + 1 : power);
    }
    case Opcode::kPower:
      if (kind == 1) return EndOfIntegers(type, stream);
      return OneOf<10>({0, 1, 2, 3, 4, 5, 8, -1, -2, -3}, stream);
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
      if (kind < 4)
        return static_cast<int64_t>((uint64_t{1} << Below(stream, 64)) - (kind == 1 ? 0 : 1));
      return EndOfIntegers(type, stream);
    default:
      if (kind == 1) {
        const uint64_t beside = static_cast<uint64_t>(EndOfIntegers(type, stream));
        return static_cast<int64_t>(beside + Below(stream, 3) - 1);
      }
      return EndOfIntegers(type, stream);
  }
}

double GridDouble(Opcode opcode, const FloatFormat& format, RandomStream& stream) {
  const double sign = Below(stream, 2) == 0 ? 1 : -1;
  if (opcode == Opcode::kPower) {
    constexpr std::array<double, 16> kExponents = {
        0, 1, 2, 3, -1, -2, -3, 0.5, -0.5, 1.5, -1.5, 1.0 / 3, 0.25, 10, HUGE_VAL, 4};
    return kExponents[Below(stream, kExponents.size())];
  }
  switch (Below(stream, 10)) {
    case 0:
    case 1:
      return sign * HUGE_VAL;
    case 2:
      return sign * 0.0;
    case 3:
      return std::numeric_limits<double>::quiet_NaN();
    case 4:
      return sign * format.MaxFinite();
    case 5:
      return sign * (Below(stream, 2) == 0 ? format.MinNormal() : format.MinSubnormal());
    case 6: {
      // A power of two from the whole range, subnormal ones among them.
      const int least = std::ilogb(format.MinSubnormal()), most = std::ilogb(format.MaxFinite());
      return sign * std::ldexp(1, least + static_cast<int>(Below(stream, most - least + 1)));
    }
    case 7: {
      constexpr std::array<double, 10> kInexact = {3, 5, 7, 10, 1.0 / 3, 0.1, 1.5, 2.5, 1e10, 0.7};
      return sign * kInexact[Below(stream, kInexact.size())];
    }
    default: {
      constexpr std::array<double, 5> kWhole = {1, 2, 0.5, 4, 6};
      return sign * kWhole[Below(stream, kWhole.size())];
    }
  }
}

}  // namespace

namespace {

// A number of `to` or halfway between two, of any size that both types have.
double NearCode(ElementType from, ElementType to, RandomStream& stream) {
  const double sign = Below(stream, 2) == 0 || (!IsFloat(from) && IsUnsigned(from)) ? 1 : -1;
  if (!IsFloat(to)) {
    const double half = Below(stream, 2) == 0 ? 0.5 : 0;
    if (IsPred(to) || Below(stream, 2) == 0)
      return sign * (static_cast<double>(Below(stream, 9)) + half);
    const int bits = BitWidth(to) - (IsSigned(to) ? 1 : 0);
    return sign * (std::ldexp(1, bits) - (Below(stream, 2) == 0 ? 1 : 0)) + half;
  }
  const FloatFormat& format = Format(to);
  int least = std::ilogb(format.MinSubnormal()), most = std::ilogb(format.MaxFinite());
  if (IsFloat(from)) {
    least = std::max(least, std::ilogb(Format(from).MinSubnormal()));
    most = std::min(most, std::ilogb(Format(from).MaxFinite()));
  } else {
    least = std::max(least, 0);
    most = std::min(most, std::max(1, BitWidth(from) - 2));
  }
  const int exponent =
      least + static_cast<int>(Below(stream, static_cast<uint64_t>(std::max(1, most - least + 1))));
  // The distance of the codes there.
  const double unit =
      std::ldexp(1, std::max(exponent, std::ilogb(format.MinNormal())) - format.mantissa_bits);
  const double any = std::ldexp(1 + static_cast<double>(stream.Next() >> 12) * 0x1p-52, exponent);
  const double code = std::floor(any / unit) * unit;
  return sign * (Below(stream, 4) == 0 ? code : code + unit / 2);
}

}  // namespace

Literal LiteralNearCodes(const Shape& shape, ElementType to, Choices& choices) {
  Literal literal(shape);
  const ElementType from = shape.element_type();
  RandomStream stream = choices.Fork();
  for (int64_t i = 0; i < literal.element_count(); ++i) {
    const double value = NearCode(from, to, stream);
    // Itself as often as a neighbour.
    const int64_t by = Below(stream, 2) == 0 ? 0 : Below(stream, 2) == 0 ? 1 : -1;
    if (!IsFloat(from)) {
      const bool fits = std::fabs(value) < 0x1p62;
      literal.SetInteger(i, (fits ? static_cast<int64_t>(value) : 0) + by);
      continue;
    }
    const FloatFormat& format = Format(from);
    const uint64_t code = EncodeFloat(format, value);
    const bool has_neighbours = value != 0 && std::fabs(value) < format.MaxFinite();
    literal.SetBits(i, has_neighbours ? code + static_cast<uint64_t>(by) : code);
  }
  return literal;
}

Literal GridScalar(Opcode opcode, ElementType type, Choices& choices) {
  RandomStream stream = choices.Fork();
  Literal value(Shape::Scalar(type));
  if (IsFloat(type)) {
    const FloatFormat& format = Format(type);
    value.SetBits(0, EncodeFloat(format, GridDouble(opcode, format, stream)));
  } else {
    value.SetInteger(0, GridInteger(opcode, type, stream));
  }
  return value;
}

Literal LiteralWithBait(Opcode opcode, const Shape& shape, Choices& choices) {
  Literal literal(shape);
  RandomStream stream = choices.Fork();
  const ElementType type = shape.element_type();
  const ElementType part = IsComplex(type) ? ComponentType(type) : type;
  for (int64_t k = 0; k < literal.component_count(); ++k) {
    literal.SetComponentBits(k, BaitFor(opcode, part, stream));
  }
  return literal;
}

Literal BaitScalarFor(Opcode opcode, ElementType type, Choices& choices) {
  return LiteralWithBait(opcode, Shape::Scalar(type), choices);
}

Literal BaitScalar(ElementType type, Choices& choices) {
  return LiteralWithBait(Opcode::kAdd, Shape::Scalar(type), choices);
}

int64_t MinOf(ElementType integer) {
  return IsUnsigned(integer) ? 0 : static_cast<int64_t>(~uint64_t{0} << (BitWidth(integer) - 1));
}

int64_t MaxOf(ElementType integer) {
  int bits = BitWidth(integer) - (IsUnsigned(integer) ? 0 : 1);
  return bits == 64 ? -1 : static_cast<int64_t>((uint64_t{1} << bits) - 1);
}

}  // namespace assay
