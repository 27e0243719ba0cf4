// Draws the elements of inputs and constants by family.
#include "fuzz/generator/values.h"

#include <array>
#include <cmath>

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

uint64_t EdgeOfFloat(ElementType type, RandomStream& stream) {
  const FloatFormat& format = Format(type);
  double sign = Below(stream, 2) == 0 ? 1 : -1;
  double one_ulp = std::ldexp(1.0, -format.mantissa_bits);
  double min_normal = format.MinNormal(), min_subnormal = format.MinSubnormal();
  switch (Below(stream, 12)) {
    case 0:
      return EncodeFloat(format, sign * 0.0);
    case 1:
      return EncodeFloat(format, sign);
    case 2:
      return EncodeFloat(format, sign * (1 + one_ulp));
    case 3:
      return EncodeFloat(format, sign * (1 - one_ulp / 2));
    case 4:
      return EncodeFloat(format, sign * format.MaxFinite());
    case 5:
      return EncodeFloat(format, sign * min_normal);
    case 6:
      return EncodeFloat(format, sign * (min_normal - min_subnormal));
    case 7:
      return EncodeFloat(format, sign * min_subnormal);
    case 8:
      return EncodeFloat(format, sign * std::ldexp(1.0, format.precision()));
    case 9:
      return EncodeFloat(format, sign * 0.5);
    case 10:
      return EncodeFloat(format, sign * HUGE_VAL);
    default:
      return QuietNan(format, sign < 0);
  }
}

// Comfortable: products of two values neither overflow nor underflow.
double WideFloat(ElementType type, RandomStream& stream) {
  int reach = type == ElementType::kF16 ? 6 : 30;
  int exponent = static_cast<int>(Below(stream, 2 * reach + 1)) - reach;
  double mantissa = 1.0 + static_cast<double>(Below(stream, 1 << 20)) / (1 << 20);
  return (Below(stream, 2) == 0 ? 1 : -1) * std::ldexp(mantissa, exponent);
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
    for (int64_t i = 0; i < literal_.element_count(); ++i) SetOne(i, family);
  }

 private:
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
    SetOne(0, ValueFamily::kOrdinary);
    for (int64_t i = 1; i < literal_.element_count(); ++i) {
      literal_.SetBits(i, literal_.GetBits(0));
    }
  }
  void FillAlternating() {
    int64_t value = 1 + static_cast<int64_t>(Below(stream_, 5));
    for (int64_t i = 0; i < literal_.element_count(); ++i) {
      SetInteger(i, i % 2 == 0 ? value : IsUnsigned(type_) ? 0 : -value);
    }
  }
  void FillOneSpecial() {
    int64_t count = literal_.element_count();
    for (int64_t i = 0; i < count; ++i) SetOne(i, ValueFamily::kOrdinary);
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
  void SetOne(int64_t i, ValueFamily family) {
    if (family == ValueFamily::kSpecials && Below(stream_, 6) == 0) {
      return literal_.SetBits(i, EdgeCode(type_, stream_));
    }
    if (family == ValueFamily::kExact) return SetInteger(i, ThinInteger(type_, stream_));
    if (IsFloat(type_)) {
      double quarter = (static_cast<double>(Below(stream_, 33)) - 16) / 4;
      literal_.SetDouble(i, family == ValueFamily::kWide ? WideFloat(type_, stream_) : quarter);
    } else if (family == ValueFamily::kWide) {
      literal_.SetInteger(i, static_cast<int64_t>(stream_.Next()));
    } else {
      SetInteger(i, offset_ + SmallInteger(type_, stream_));
    }
  }

  Literal& literal_;
  ElementType type_;
  RandomStream stream_;
  int64_t offset_ = 0;
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

int64_t MinOf(ElementType integer) {
  return IsUnsigned(integer) ? 0 : static_cast<int64_t>(~uint64_t{0} << (BitWidth(integer) - 1));
}

int64_t MaxOf(ElementType integer) {
  int bits = BitWidth(integer) - (IsUnsigned(integer) ? 0 : 1);
  return bits == 64 ? -1 : static_cast<int64_t>((uint64_t{1} << bits) - 1);
}

}  // namespace assay
