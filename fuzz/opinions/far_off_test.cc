// Tests answers that are legal, and yet far from the program.
#include "fuzz/opinions/far_off.h"

#include <cmath>
#include <cstdlib>
#include <limits>

#include "gtest/gtest.h"
#include "reference/interpreter/interpreter.h"
#include "spec/backend/fake_backend.h"
#include "spec/text/reader.h"
#include "spec/types/float_format.h"

namespace assay {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

Literal Row(ElementType type, const std::vector<double>& values) {
  const auto count = static_cast<int64_t>(values.size());
  Literal row(Shape::Array(type, {IsComplex(type) ? count / 2 : count}));
  const FloatFormat& format = Format(ComponentType(type));
  for (int64_t k = 0; k < count; ++k)
    row.SetComponentBits(k, EncodeFloat(format, values[static_cast<size_t>(k)]));
  return row;
}

struct Asked {
  std::string entry;  // of parameter x
  ElementType type = ElementType::kF32;
  std::vector<double> x;
};

std::string FarOffByLicence(const Asked& asked, const std::vector<double>& answer) {
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  FakeBackend::Script script;
  script.description.name = "fake";
  FakeBackend backend(script);
  const CheckSubject subject{*oracle, backend, Profile::Xla().AsWritten(), {}, Limits()};
  const auto module = ReadModule("HloModule m\nENTRY e {\n" + asked.entry + "}\n");
  EXPECT_TRUE(module.ok()) << module.status();
  const Literal x = Row(asked.type, asked.x);
  return FarOffByLicence(subject, **module, {&x}, Row(asked.type, answer));
}

// (x + c) - c as x.
const Asked kSwallowed = {.entry = R"(
  x = f32[2] parameter(0)
  c = f32[2] constant({1e8, 1e8})
  a = f32[2] add(x, c)
  ROOT b = f32[2] subtract(a, c)
)",
                          .x = {3, 9}};

TEST(FarOff, WhatASumSwallowedIsOfAnotherClassWhereItComesBack) {
  EXPECT_EQ(FarOffByLicence(kSwallowed, {0, 8}), "") << "as the program is written";
  EXPECT_EQ(FarOffByLicence(kSwallowed, {3, 9}), "legal, and of another class");
  EXPECT_EQ(FarOffByLicence(kSwallowed, {0, 9}), "legal, and far off");
  EXPECT_EQ(FarOffByLicence(kSwallowed, {0, 90}), "") << "it is a failure";
}

// (x * 3) * 0.1 as x * 0.3: an ulp is what rounding explains.
TEST(FarOff, OtherRoundingsAreNear) {
  const Asked chain = {.entry = R"(
  x = f32[1] parameter(0)
  c = f32[1] constant({3})
  d = f32[1] constant({0.1})
  a = f32[1] multiply(x, c)
  ROOT b = f32[1] multiply(a, d)
)",
                       .x = {7}};
  const float right = (7 * 3.0F) * 0.1F;
  EXPECT_EQ(FarOffByLicence(chain, {right}), "");
  EXPECT_EQ(FarOffByLicence(chain, {std::nextafter(right, 9.0F)}), "");
}

// A part of a complex number that a sum of constants gives back.
TEST(FarOff, APartOfAComplexNumberMayBeLost) {
  const Asked complex = {.entry = R"(
  x = c64[1] parameter(0)
  c = c64[1] constant({(1e8, 1)})
  a = c64[1] add(x, c)
  ROOT b = c64[1] subtract(a, c)
)",
                         .type = ElementType::kC64,
                         .x = {5, 2}};
  EXPECT_EQ(FarOffByLicence(complex, {8, 2}), "");
  EXPECT_EQ(FarOffByLicence(complex, {5, 2}), "legal, and far off");
  const Asked larger = {.entry = complex.entry, .type = complex.type, .x = {14, 2}};
  EXPECT_EQ(FarOffByLicence(larger, {16, 2}), "");
}

// Who is asked only of what is not near must miss nothing.
TEST(FarOff, WhatIsNearThePlainValueIsNever) {
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  const auto module = ReadModule("HloModule m\nENTRY e {\n" + kSwallowed.entry + "}\n");
  ASSERT_TRUE(module.ok()) << module.status();
  const Literal x = Row(ElementType::kF32, {3, 25});
  const auto expected = oracle->Expect(**module, {&x}, Profile::Xla().AsWritten(), Limits());
  ASSERT_TRUE(expected.ok()) << expected.status();
  const auto answer = [](int64_t steps) {  // beside 0 and 24
    float second = 24;
    for (int64_t k = 0; k < std::abs(steps); ++k)
      second = std::nextafter(second, steps < 0 ? 0.0F : 99.0F);
    return Row(ElementType::kF32, {0, second});
  };
  for (int64_t steps = -3; steps <= 3; ++steps) {
    EXPECT_TRUE(IsNearPlain(*expected, answer(steps))) << steps;
    EXPECT_EQ(FarOff(*expected, answer(steps)), "") << steps;
  }
  EXPECT_FALSE(IsNearPlain(*expected, answer(4)));
  EXPECT_FALSE(IsNearPlain(*expected, Row(ElementType::kF32, {1e-45, 24})));
  EXPECT_FALSE(IsNearPlain(*expected, Row(ElementType::kF32, {-0.0, 24})));
  EXPECT_FALSE(IsNearPlain(*expected, Row(ElementType::kF32, {0, kInf})));
  EXPECT_FALSE(IsNearPlain(*expected, Row(ElementType::kF32, {0, std::nan("")})));
  EXPECT_FALSE(IsNearPlain(*expected, Row(ElementType::kF32, {0})));
}

// Flushing, contraction and excess precision are how XLA:CPU computes, and are in every program.
TEST(FarOff, WhatEveryOpMayDoIsNotNotable) {
  const Asked product = {.entry = R"(
  x = f32[2] parameter(0)
  ROOT b = f32[2] multiply(x, x)
)",
                         .x = {1e-20, 1e30}};
  EXPECT_EQ(FarOffByLicence(product, {0, kInf}), "");
}

TEST(FarOff, IsKnownByItsWords) {
  EXPECT_TRUE(IsByLicence("legal, and far off"));
  EXPECT_FALSE(IsByLicence("sign of a zero"));
  EXPECT_FALSE(IsByLicence(""));
}

}  // namespace
}  // namespace assay
