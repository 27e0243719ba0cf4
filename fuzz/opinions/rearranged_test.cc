// Tests which wrong answers are the same arithmetic in another order. Needs a Python with numpy.
#include "fuzz/opinions/rearranged.h"

#include <cmath>
#include <cstdlib>
#include <limits>

#include "gtest/gtest.h"
#include "reference/interpreter/interpreter.h"
#include "spec/backend/fake_backend.h"
#include "spec/base/strings.h"
#include "spec/numerics/profile.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

// Debian's, where another one is first on the PATH.
std::string Python() {
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    const std::string command = std::string(python) + " -c 'import numpy' 2>/dev/null";
    if (std::system(command.c_str()) == 0) return python;
  }
  ADD_FAILURE() << "no Python with numpy: install python3-numpy";
  return "";
}

constexpr double kInf = std::numeric_limits<double>::infinity();

Literal Row(ElementType type, const std::vector<double>& values) {
  Literal row(Shape::Array(type, {static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) row.SetDouble(static_cast<int64_t>(i), values[i]);
  return row;
}

struct Asked {
  std::string entry;  // of parameter x
  ElementType type = ElementType::kF32;
  std::vector<double> x;
  std::string after = {};  // what the pass made of it
  std::string pass = "algsimp";
};

std::string ModuleOf(const std::string& entry) {
  const char* const sum =
      "sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n";
  const bool has_sum = entry.find("to_apply=sum") != std::string::npos;
  return StrCat("HloModule m\n", has_sum ? sum : "", "ENTRY e {\n", entry, "}\n");
}

bool IsRearranged(const Asked& asked, const Literal& answer, const Profile& profile) {
  static const std::string python = Python();
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  FakeBackend::Script script;
  script.description.name = "xla";  // whose passes are known
  FakeBackend backend(script);
  const CheckSubject subject{*oracle, backend, profile, {}, Limits()};
  auto module = ReadModule(ModuleOf(asked.entry));
  EXPECT_TRUE(module.ok()) << module.status();
  std::vector<Literal> inputs;
  inputs.push_back(Row(asked.type, asked.x));
  PassBlame blame;
  blame.pass = asked.pass;
  blame.after = asked.after.empty() ? "" : ModuleOf(asked.after);
  return IsRearrangedBy({blame}, subject, **module, inputs, answer, python);
}

bool IsRearranged(const Asked& asked, const std::vector<double>& answer,
                  const Profile& profile = Profile::Strict()) {
  return IsRearranged(asked, Row(asked.type, answer), profile);
}

// (x * 3) * 0.1 as x * 0.3: an ulp is another one.
const Asked kChain = {.entry = R"(
  x = f32[2] parameter(0)
  three = f32[] constant(3)
  threes = f32[2] broadcast(three), dimensions={}
  tenth = f32[] constant(0.1)
  tenths = f32[2] broadcast(tenth), dimensions={}
  a = f32[2] multiply(x, threes)
  ROOT b = f32[2] multiply(a, tenths)
)",
                      .x = {5, 7}};

TEST(RearrangedTest, RoundingInAnotherOrderIs) {
  const float five = 5 * (3 * 0.1F), seven = 7 * (3 * 0.1F);
  EXPECT_TRUE(IsRearranged(kChain, {std::nextafter(five, 9.0F), std::nextafter(seven, 9.0F)}));
  EXPECT_FALSE(IsRearranged(kChain, {five, seven + 1e-3F})) << "too far off";
  EXPECT_FALSE(IsRearranged(kChain, {five, kInf})) << "a number is no infinity";
}

TEST(RearrangedTest, OnlyPassesThatDoArithmeticMay) {
  Asked other = kChain;
  other.pass = "float-normalization-bf16";
  const float five = std::nextafter(5 * (3 * 0.1F), 9.0F), seven = 7 * (3 * 0.1F);
  EXPECT_TRUE(IsRearranged(kChain, {five, seven}));
  EXPECT_FALSE(IsRearranged(other, {five, seven}));
}

// y + A x as ((y + a1 x1) + a2 x2): no pass says so, it is how the sum is coded.
TEST(RearrangedTest, ASumOfProductsMayBeginWithWhatIsAdded) {
  const Asked biased = {.entry = R"(
  x = f32[2] parameter(0)
  a = f32[2,2] constant({{0, -2.93267188e-08}, {0, 3.51991798e-06}})
  b = f32[2] constant({-1, -2})
  d = f32[2] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT sum = f32[2] add(d, x)
)",
                        .x = {0, 3},
                        .pass = ""};
  EXPECT_TRUE(IsRearranged(biased, {0, 2.99999285}));
  EXPECT_FALSE(IsRearranged(biased, {0, 2.9}));
  Asked product = biased;
  const std::string root = "add(d, x)";
  product.entry.replace(product.entry.find(root), root.size(), "multiply(d, x)");
  EXPECT_TRUE(IsRearranged({product.entry, product.type, product.x}, {0, -2.1031530e-05}));
  EXPECT_FALSE(IsRearranged(product, {0, -2.1031530e-05})) << "nothing is added to it";
}

// (x1 + x2) + y as ((y + x1) + x2), which a library makes of both ops.
TEST(RearrangedTest, ASumMayBeginWithWhatIsAdded) {
  const Asked added = {.entry = R"(
  x = f32[2] parameter(0)
  a = f32[2,2] constant({{-2.75000024, 1}, {-2, 1}})
  z = f32[] constant(0)
  r = f32[2] reduce(a, z), dimensions={0}, to_apply=sum
  ROOT y = f32[2] add(x, r)
)",
                       .x = {1, 1},
                       .pass = ""};
  EXPECT_TRUE(IsRearranged(added, {-3.75000024, 3}));
  EXPECT_FALSE(IsRearranged(added, {-3.75000072, 3}));
  EXPECT_FALSE(IsRearranged(added, {-3.75000024, kInf}));
  Asked product = added;
  const std::string root = "add(x, r)";
  product.entry.replace(product.entry.find(root), root.size(), "multiply(x, r)");
  EXPECT_FALSE(IsRearranged(product, {-4.75000048, 2})) << "nothing is added to it";
  // The rest of a difference may be far from what it is in real numbers.
  Asked cancels = added;
  const std::string terms = "{{-2.75000024, 1}, {-2, 1}}";
  cancels.entry.replace(cancels.entry.find(terms), terms.size(),
                        "{{1.49999988, 1}, {-2.74999976, 1}}");
  cancels.x = {1.25, 1};
  EXPECT_TRUE(IsRearranged(cancels, {2.38418579e-07, 3}));
  EXPECT_FALSE(IsRearranged(cancels, {2e-6, 3}));
}

TEST(RearrangedTest, ASumOfNothingHasNoPlaceForWhatIsAdded) {
  const Asked empty = {.entry = R"(
  x = f32[2] parameter(0)
  z = f32[] constant(0)
  a = f32[3,2,0] broadcast(z), dimensions={}
  r = f32[2] reduce(a, z), dimensions={0,2}, to_apply=sum
  ROOT y = f32[2] add(x, r)
)",
                       .x = {1, 1},
                       .pass = ""};
  EXPECT_FALSE(IsRearranged(empty, {0, 0}));
}

// reshape(iota) as rows + columns: nobody asked for a sum.
TEST(RearrangedTest, OnlyArithmeticHasAnOrder) {
  const Asked moved = {.entry = R"(
  x = f16[2] parameter(0)
  i = f16[8192] iota(), iota_dimension=0
  r = f16[4096,2] reshape(i)
  s = f16[1,2] slice(r), slice={[2048:2049], [0:2]}
  ROOT y = f16[2] reshape(s)
)",
                       .type = ElementType::kF16,
                       .x = {1, 2}};
  // 4096 and 4097, of which the second is a tie.
  EXPECT_FALSE(IsRearranged(moved, {4096, 4100}));
  Asked added = moved;
  const std::string root = "ROOT y = f16[2] reshape(s)";
  added.entry.replace(added.entry.find(root), root.size(),
                      "y = f16[2] reshape(s)\n  ROOT z = f16[2] add(y, x)");
  EXPECT_TRUE(IsRearranged(added, {4096, 4100})) << "4097 and 4098 or 4099";
}

// (x + c) - c as x: what the sum swallowed is there again.
TEST(RearrangedTest, WhatASumSwallowedMayComeBack) {
  const Asked sum = {.entry = R"(
  x = f32[2] parameter(0)
  c = f32[2] constant({1e8, 1e8})
  a = f32[2] add(x, c)
  ROOT b = f32[2] subtract(a, c)
)",
                     .x = {3, 9}};
  EXPECT_TRUE(IsRearranged(sum, {3, 9}));
  EXPECT_FALSE(IsRearranged(sum, {3, 90}));
}

// (x * 1e-30) * 1e-30 * 1e30 * 1e30: the product was too small on the way.
TEST(RearrangedTest, WhatVanishedDoesNotComeBack) {
  const Asked product = {.entry = R"(
  x = f32[2] parameter(0)
  small = f32[2] constant({1e-30, 1e-30})
  large = f32[2] constant({1e30, 1e30})
  a = f32[2] multiply(x, small)
  b = f32[2] multiply(a, small)
  c = f32[2] multiply(b, large)
  ROOT d = f32[2] multiply(c, large)
)",
                         .x = {1, 2}};
  EXPECT_FALSE(IsRearranged(product, {1, 2}));
}

TEST(RearrangedTest, ComparedNumbersAreThoseOfRealNumbers) {
  const Asked compared = {.entry = R"(
  x = f32[2] parameter(0)
  three = f32[2] constant({3, 3})
  tenth = f32[2] constant({0.1, 0.1})
  product = f32[2] constant({0.3, 0.3})
  a = f32[2] multiply(x, three)
  b = f32[2] multiply(a, tenth)
  c = f32[2] multiply(x, product)
  ROOT r = pred[2] compare(b, c), direction=LT
)",
                          .x = {5, 7}};
  // 0.1F * 3 < 0.3F in real numbers; the program rounds both products to the same numbers.
  Literal answer(Shape::Array(ElementType::kPred, {2}));
  answer.SetBits(0, 1);
  answer.SetBits(1, 1);
  EXPECT_TRUE(IsRearranged(compared, answer, Profile::Strict()));
  Asked other = compared;
  other.entry.replace(other.entry.find("LT"), 2, "GT");
  EXPECT_FALSE(IsRearranged(other, answer, Profile::Strict())) << "true is false";
}

// In a type of few digits 16 ulp would be any number.
TEST(RearrangedTest, NarrowTypesHaveFewerUlps) {
  const Asked narrow = {.entry = R"(
  x = f16[1] parameter(0)
  three = f16[1] constant({3})
  tenth = f16[1] constant({0.1})
  a = f16[1] multiply(x, three)
  ROOT b = f16[1] multiply(a, tenth)
)",
                        .type = ElementType::kF16,
                        .x = {5}};
  EXPECT_TRUE(IsRearranged(narrow, {1.501}));
  EXPECT_FALSE(IsRearranged(narrow, {1.53}));
}

// ((x + x + x) * z) * w, as (x * z) * (w + w + w) with a product that is flushed.
TEST(RearrangedTest, WhatIsFlushedOnTheOtherWayIs) {
  const std::string parts = R"(
  p = f32[3] parameter(0)
  x = f32[1] slice(p), slice={[0:1]}
  z = f32[1] slice(p), slice={[1:2]}
  w = f32[1] slice(p), slice={[2:3]}
)";
  const Asked flushed = {.entry = parts + R"(
  two = f32[1] add(x, x)
  a = f32[1] add(two, x)
  b = f32[1] multiply(a, z)
  ROOT c = f32[1] multiply(b, w)
)",
                         // 0.3 * 3e-38 is subnormal, 0.9 * 3e-38 is not.
                         .x = {0.3, 3e-38, 16},
                         .after = parts + R"(
  two = f32[1] add(w, w)
  a = f32[1] add(two, w)
  b = f32[1] multiply(x, z)
  ROOT c = f32[1] multiply(a, b)
)"};
  EXPECT_TRUE(IsRearranged(flushed, Row(ElementType::kF32, {0}), Profile::Xla()));
  EXPECT_FALSE(IsRearranged(flushed, Row(ElementType::kF32, {1e-36}), Profile::Xla()));
}

}  // namespace
}  // namespace assay
