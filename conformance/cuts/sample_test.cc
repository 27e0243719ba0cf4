// The oracle says the same of an element whether it judges a sample of a captured array or all of
// it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/str_split.h"
#include "reference/interpreter/capture/sample.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"
#include "spec/types/float_format.h"

namespace assay {
namespace {

constexpr std::string_view kContractions[] = {
    "f32[3,5,7] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={2}, lhs_contracting_dims={2}, "
    "rhs_contracting_dims={0} | f32[3,5,6] | f32[6,7,3]",
    "f32[5,7] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={1} | bf16[6,5] | "
    "bf16[7,6]",
    "c64[5,7] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={1} | c64[6,5] | c64[7,6]",
    "s32[5,7] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={1} | s32[6,5] | s32[7,6]",
    "f32[2,4,4,6] convolution(x, y), window={size=3x3 pad=1_1x1_1 stride=2x2}, "
    "dim_labels=b01f_01io->b01f | f32[2,7,7,4] | f32[3,3,4,6]",
    "f32[2,6,4,4] convolution(x, y), window={size=3x3 pad=1_1x1_1 stride=2x2}, "
    "dim_labels=bf01_oi01->bf01, feature_group_count=2 | f32[2,4,7,7] | f32[6,2,3,3]",
    "f32[1,4,3,3] convolution(x, y), window={size=5x5}, dim_labels=fb01_io01->bf01, "
    "batch_group_count=2 | f32[3,2,7,7] | f32[3,4,5,5]",
};

struct Shown {
  ArrayExpectation expected;
  Literal seen;
  std::vector<int64_t> sample;
};

Literal Numbers(const Shape& shape, int64_t factor) {
  Literal literal(shape);
  for (int64_t i = 0; i < literal.component_count(); ++i) {
    const double value = static_cast<double>(i * factor % 23) / 7 - 1.3;
    if (IsComplex(shape.element_type())) {
      literal.SetComponentBits(i, EncodeFloat(Format(ComponentType(shape.element_type())), value));
    } else {
      literal.SetDouble(i, value);
    }
  }
  return literal;
}

class SampleTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    const std::vector<std::string> parts =
        absl::StrSplit(std::string(kContractions[GetParam()]), " | ");
    module_ = *ReadModule(StrCat("HloModule m\nENTRY e {\n  x = ", parts[1],
                                 " parameter(0)\n  y = ", parts[2],
                                 " parameter(1)\n  ROOT r = ", parts[0], "\n}\n"));
    for (int64_t k : {0, 1})
      inputs_.push_back(Numbers(module_->entry()->parameter(k)->shape(), 5 + 2 * k));
  }

  Shown Show(int64_t sample) {
    const std::vector<const Literal*> arguments = {&inputs_[0], &inputs_[1]};
    Captures captures;
    captures.values.push_back(
        {module_->entry()->root(), 0, *oracle_->Evaluate(*module_, arguments, {})});
    captures.sample = sample;
    Shown shown;
    captures.visit = [&](const CaptureVisit& visit) {
      shown = {visit.expected, *visit.seen, {}};
      if (visit.sample != nullptr) shown.sample = *visit.sample;
    };
    const auto results =
        oracle_->ExpectFrom(*module_, arguments, captures, Profile::Xla(), Limits{});
    EXPECT_TRUE(results.ok()) << results.status();
    return shown;
  }

  std::unique_ptr<Oracle> oracle_ = MakeOracle();
  std::unique_ptr<Module> module_;
  std::vector<Literal> inputs_;
};

TEST_P(SampleTest, ElementsAreThoseOfTheWhole) {
  const Shown whole = Show(0), some = Show(12);
  EXPECT_TRUE(whole.sample.empty());
  ASSERT_GE(some.sample.size(), 4u);
  ASSERT_LT(some.sample.size(), static_cast<size_t>(whole.seen.element_count()));
  const int64_t parts = BoundsPerElement(whole.seen.element_type());
  EXPECT_EQ(some.expected.bounds.empty(), whole.expected.bounds.empty());
  for (size_t k = 0; k < some.sample.size(); ++k) {
    const int64_t at = some.sample[k], i = static_cast<int64_t>(k);
    EXPECT_EQ(DescribeElement(some.expected.plain, i), DescribeElement(whole.expected.plain, at));
    EXPECT_EQ(DescribeElement(some.seen, i), DescribeElement(whole.seen, at));
    for (int64_t part = 0; part < parts && !whole.expected.bounds.empty(); ++part) {
      const ElementBound &a = some.expected.bounds[i * parts + part],
                         &b = whole.expected.bounds[at * parts + part];
      EXPECT_EQ(a.centre, b.centre);
      EXPECT_EQ(a.radius, b.radius);
      EXPECT_EQ(a.flags, b.flags);
      EXPECT_EQ(a.magnitude(), b.magnitude());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Contractions, SampleTest,
                         testing::Range(0, static_cast<int>(std::size(kContractions))));

TEST(ChooseSample, TakesCornersExtremesAndNans) {
  Literal array(Shape::Array(ElementType::kF32, {100, 100}));
  for (int64_t i = 0; i < 10000; ++i) array.SetDouble(i, static_cast<double>(i % 97));
  array.SetDouble(4321, std::nan(""));
  array.SetDouble(1234, -5);
  array.SetDouble(5678, 1000);
  const std::vector<int64_t> sample = reference::ChooseSample(array, 64, 7);
  EXPECT_TRUE(std::is_sorted(sample.begin(), sample.end()));
  EXPECT_LE(sample.size(), 64u);
  for (int64_t element : {0, 99, 9900, 9999, 4321, 1234, 5678})
    EXPECT_TRUE(std::binary_search(sample.begin(), sample.end(), element)) << element;
  EXPECT_EQ(sample, reference::ChooseSample(array, 64, 7));
  EXPECT_NE(sample, reference::ChooseSample(array, 64, 8));
}

}  // namespace
}  // namespace assay
