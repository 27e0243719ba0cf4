// Every code of the 8- and 16-bit formats against an independent computation, and rounding against
// exact integer arithmetic.
#include "spec/types/float_format.h"

#include <cmath>
#include <limits>
#include <map>

#include <gtest/gtest.h>

#include "spec/types/native.h"

namespace assay {
namespace {

const ElementType kNarrow[] = {
    ElementType::kF16,        ElementType::kBF16,       ElementType::kF8E5M2,
    ElementType::kF8E4M3,     ElementType::kF8E3M4,     ElementType::kF8E4M3FN,
    ElementType::kF8E5M2FNUZ, ElementType::kF8E4M3FNUZ, ElementType::kF8E4M3B11FNUZ,
    ElementType::kF4E2M1FN,   ElementType::kF6E2M3FN,   ElementType::kF6E3M2FN,
    ElementType::kF8E8M0FNU};

// All finite values of a format with their codes, positive ones only, in increasing order, by the
// textbook formula.
std::map<long double, uint64_t> PositiveValues(const FloatFormat& format) {
  std::map<long double, uint64_t> values;
  uint64_t codes =
      uint64_t{1} << (format.bits() - (format.special == SpecialValues::kExponent ? 0 : 1));
  for (uint64_t code = 0; code < codes; ++code) {
    if (IsNanCode(format, code)) continue;
    int64_t exponent = static_cast<int64_t>(code >> format.mantissa_bits);
    uint64_t mantissa = code & ((uint64_t{1} << format.mantissa_bits) - 1);
    if (format.special == SpecialValues::kExponent) {
      values[std::ldexp(1.0L, static_cast<int>(exponent) - format.bias)] = code;
      continue;
    }
    bool infinity =
        format.special == SpecialValues::kIeee && exponent == (1 << format.exponent_bits) - 1;
    if (infinity) continue;
    long double value = std::ldexp(
        static_cast<long double>(mantissa) +
            (exponent > 0 ? std::ldexp(1.0L, format.mantissa_bits) : 0.0L),
        static_cast<int>(std::max<int64_t>(exponent, 1)) - format.bias - format.mantissa_bits);
    values[value] = code;
  }
  return values;
}

TEST(FloatFormat, DecodesEveryCodeOfEveryNarrowFormat) {
  for (ElementType type : kNarrow) {
    const FloatFormat& f = Format(type);
    for (const auto& [value, code] : PositiveValues(f)) {
      ASSERT_EQ(DecodeFloat(f, code), static_cast<double>(value)) << Name(type) << " code " << code;
      ASSERT_EQ(EncodeFloat(f, static_cast<double>(value)), code)
          << Name(type) << " value " << static_cast<double>(value);
    }
  }
}

TEST(FloatFormat, RoundsMidpointsToEvenAndTheirNeighboursToTheNearest) {
  for (ElementType type : kNarrow) {
    if (type == ElementType::kF8E8M0FNU) continue;  // its ties go to the even code, tested below
    const FloatFormat& f = Format(type);
    auto values = PositiveValues(f);
    for (auto low = values.begin(), high = std::next(low); high != values.end(); ++low, ++high) {
      double middle = static_cast<double>((low->first + high->first) / 2);
      uint64_t even = (low->second & 1) == 0 ? low->second : high->second;
      ASSERT_EQ(EncodeFloat(f, middle), even) << Name(type) << " " << middle;
      ASSERT_EQ(EncodeFloat(f, std::nextafter(middle, 0.0)), low->second)
          << Name(type) << " below " << middle;
      ASSERT_EQ(EncodeFloat(f, std::nextafter(middle, 1e300)), high->second)
          << Name(type) << " above " << middle;
      if (f.HasNegativeZero()) {
        ASSERT_EQ(EncodeFloat(f, -middle), even | uint64_t{1} << (f.bits() - 1)) << Name(type);
      }
    }
  }
}

struct OverflowRow {
  ElementType type;
  double largest;         // still rounds to the largest finite value
  double first_overflow;  // first magnitude that does not
  uint64_t overflow_code;
};

TEST(FloatFormat, OverflowsWhereChapter15Says) {
  const OverflowRow rows[] = {
      {ElementType::kF8E5M2, 61439, 61440, 0x7C},   {ElementType::kF8E5M2FNUZ, 61439, 61440, 0x80},
      {ElementType::kF8E4M3, 247.9, 248, 0x78},     {ElementType::kF8E4M3FN, 464, 464.1, 0x7F},
      {ElementType::kF8E4M3FNUZ, 247.9, 248, 0x80}, {ElementType::kF8E4M3B11FNUZ, 30.9, 31, 0x80},
      {ElementType::kF8E3M4, 15.7, 15.75, 0x70},    {ElementType::kF16, 65519, 65520, 0x7C00},
  };
  for (const OverflowRow& row : rows) {
    const FloatFormat& f = Format(row.type);
    EXPECT_EQ(DecodeFloat(f, EncodeFloat(f, row.largest)), f.MaxFinite()) << Name(row.type);
    EXPECT_EQ(EncodeFloat(f, row.first_overflow), row.overflow_code) << Name(row.type);
  }
  EXPECT_EQ(
      DecodeFloat(Format(ElementType::kF4E2M1FN), EncodeFloat(Format(ElementType::kF4E2M1FN), 1e9)),
      6);
  EXPECT_EQ(EncodeFloat(Format(ElementType::kF8E8M0FNU), -1.0), 0xFFu);
  EXPECT_EQ(EncodeFloat(Format(ElementType::kF8E8M0FNU), 0.0), 0xFFu);
  EXPECT_EQ(EncodeFloat(Format(ElementType::kF8E8M0FNU), 1.5),
            128u);  // tie between codes 127 and 128
}

TEST(FloatFormat, RoundsOnceFromDoubleAndFromIntegers) {
  EXPECT_EQ(EncodeFloat(Format(ElementType::kBF16), 1 + std::ldexp(1.0, -8) + std::ldexp(1.0, -30)),
            0x3F81u);
  EXPECT_EQ(EncodeFloat(Format(ElementType::kF16), 1 + std::ldexp(1.0, -11) + std::ldexp(1.0, -30)),
            0x3C01u);
  EXPECT_EQ(DecodeFloat(Format(ElementType::kF8E4M3FN),
                        EncodeFloat(Format(ElementType::kF8E4M3FN), 1 + 0x1p-4 + 0x1p-20)),
            1.125);
  uint64_t tricky = (uint64_t{1} << 40) + (uint64_t{1} << 32) + 1;
  EXPECT_EQ(DecodeFloat(Format(ElementType::kBF16),
                        EncodeInteger(Format(ElementType::kBF16), tricky, false)),
            0x1p40 + 0x1p33);
  EXPECT_EQ(DecodeFloat(Format(ElementType::kF32),
                        EncodeInteger(Format(ElementType::kF32), ~uint64_t{0}, false)),
            0x1p64);
  EXPECT_EQ(DecodeFloat(Format(ElementType::kF64),
                        EncodeInteger(Format(ElementType::kF64), (uint64_t{1} << 53) + 1, true)),
            -0x1p53);
  EXPECT_EQ(EncodeInteger(Format(ElementType::kF16), 65520, false), 0x7C00u);
}

TEST(FloatFormat, StorageTypesAgreeWithTheGeneralCodec) {
  for (uint32_t code = 0; code < 65536; ++code) {
    Half half;
    half.bits = static_cast<uint16_t>(code);
    BFloat16 brain;
    brain.bits = static_cast<uint16_t>(code);
    double h = DecodeFloat(Format(ElementType::kF16), code),
           b = DecodeFloat(Format(ElementType::kBF16), code);
    if (std::isnan(h)) {
      ASSERT_TRUE(std::isnan(static_cast<double>(half)));
    } else {
      ASSERT_EQ(static_cast<double>(half), h) << code;
      ASSERT_EQ(std::signbit(static_cast<double>(half)), std::signbit(h)) << code;
    }
    if (std::isnan(b)) {
      ASSERT_TRUE(std::isnan(static_cast<double>(brain)));
      continue;
    }
    ASSERT_EQ(static_cast<double>(brain), b) << code;
    // Points between this value and the next, as far as double reaches on either side of every
    // rounding boundary.
    double next = DecodeFloat(Format(ElementType::kBF16), code + 1);
    if (!std::isfinite(b) || !std::isfinite(next)) continue;
    for (double x : {(b + next) / 2, std::nextafter((b + next) / 2, 1e308),
                     std::nextafter((b + next) / 2, -1e308), b * 0.75 + next * 0.25}) {
      ASSERT_EQ(BFloat16(x).bits, EncodeFloat(Format(ElementType::kBF16), x)) << code << " " << x;
    }
  }
  for (double x :
       {1e39, -1e39, 3.3961775292304957e38, 3.39e38, 1e-46, -1e-46, 9.1835e-41, 0.0, -0.0}) {
    EXPECT_EQ(BFloat16(x).bits, EncodeFloat(Format(ElementType::kBF16), x)) << x;
  }
}

TEST(FloatFormat, UlpDistanceCountsSteps) {
  const FloatFormat& f = Format(ElementType::kF32);
  auto code = [&](double v) { return EncodeFloat(f, v); };
  EXPECT_EQ(UlpDistance(f, code(1.0), code(std::nextafterf(1.0f, 2.0f))), 1);
  EXPECT_EQ(UlpDistance(f, code(0.0), code(-0.0)), 0);
  EXPECT_EQ(UlpDistance(f, code(0x1p-149), code(-0x1p-149)), 2);
  EXPECT_EQ(UlpDistance(f, code(std::numeric_limits<float>::max()), code(INFINITY)), 1);
  EXPECT_EQ(UlpDistance(f, code(NAN), code(1.0)), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(UlpDistance(f, QuietNan(f, true), QuietNan(f)), 0);
}

TEST(SubByte, WrapsToItsBits) {
  using S4 = Native<ElementType::kS4>;
  using U4 = Native<ElementType::kU4>;
  EXPECT_EQ(static_cast<int64_t>(S4(8)), -8);
  EXPECT_EQ(static_cast<int64_t>(S4(-9)), 7);
  EXPECT_EQ(static_cast<int64_t>(U4(17)), 1);
  EXPECT_EQ(static_cast<int64_t>(Native<ElementType::kS2>(2)), -2);
}

}  // namespace
}  // namespace assay
