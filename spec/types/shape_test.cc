// Text, sizes, compatibility and strides of shapes, and stores to literals.
#include "spec/types/shape.h"

#include <gtest/gtest.h>

#include "spec/types/literal.h"

namespace assay {
namespace {

TEST(Shape, PrintsAsHloText) {
  EXPECT_EQ(Shape::Array(ElementType::kF32, {2, 3}).ToString(), "f32[2,3]");
  EXPECT_EQ(Shape::Array(ElementType::kF32, {2, 3}).ToString(true), "f32[2,3]{1,0}");
  EXPECT_EQ(Shape::Scalar(ElementType::kPred).ToString(true), "pred[]");
  Shape tuple =
      Shape::Tuple({Shape::Token(), Shape::Tuple({}), Shape::Array(ElementType::kS8, {0})});
  EXPECT_EQ(tuple.ToString(), "(token[], (), s8[0])");
  Shape dynamic = Shape::Array(ElementType::kU8, {4, Shape::kUnbounded});
  dynamic.set_dynamic(0, true);
  EXPECT_EQ(dynamic.ToString(), "u8[<=4,?]");
}

TEST(Shape, CountsSaturateInsteadOfOverflowing) {
  int64_t big = int64_t{1} << 40;
  EXPECT_EQ(Shape::Array(ElementType::kF32, {big, big}).ElementCount(),
            std::numeric_limits<int64_t>::max());
  EXPECT_EQ(Shape::Array(ElementType::kF32, {big, big, 0}).ElementCount(), 0);
  EXPECT_FALSE(Literal::Create(Shape::Array(ElementType::kF32, {big})).ok());
}

TEST(Shape, CompatibilityIgnoresLayoutAndMatchesUnboundedSizes) {
  Shape a = Shape::Array(ElementType::kF32, {2, 3}), b = a;
  b.set_layout(Layout({0, 1}));
  EXPECT_TRUE(Compatible(a, b));
  EXPECT_NE(a, b);
  EXPECT_TRUE(Compatible(a, Shape::Array(ElementType::kF32, {2, Shape::kUnbounded})));
  EXPECT_FALSE(Compatible(a, Shape::Array(ElementType::kF64, {2, 3})));
  EXPECT_TRUE(CompatibleIgnoringFpPrecision(a, Shape::Array(ElementType::kBF16, {2, 3})));
  EXPECT_FALSE(Compatible(Shape::Tuple({a}), Shape::Tuple({a, a})));
}

TEST(Shape, LayoutStridesFollowMinorToMajor) {
  Shape shape = Shape::Array(ElementType::kF32, {2, 3, 5});
  EXPECT_EQ(LayoutStrides(shape), (DimVector{15, 5, 1}));
  shape.set_layout(Layout({0, 2, 1}));
  EXPECT_EQ(LayoutStrides(shape), (DimVector{1, 10, 2}));
}

TEST(Literal, StoresIntegersModuloTheirWidthAndFloatsRounded) {
  Literal s8(Shape::Array(ElementType::kS8, {2}));
  s8.SetInteger(0, 300);
  s8.SetDouble(1, 300.7);
  EXPECT_EQ(s8.GetInteger(0), 44);
  EXPECT_EQ(s8.GetInteger(1), 127);
  Literal u64(Shape::Scalar(ElementType::kU64));
  u64.SetDouble(0, 1e30);
  EXPECT_EQ(static_cast<uint64_t>(u64.GetInteger(0)), ~uint64_t{0});
  Literal s64(Shape::Scalar(ElementType::kS64));
  s64.SetDouble(0, -1e30);
  EXPECT_EQ(s64.GetInteger(0), std::numeric_limits<int64_t>::min());
  Literal s4(Shape::Scalar(ElementType::kS4));
  s4.SetInteger(0, 9);
  EXPECT_EQ(s4.GetInteger(0), -7);
  EXPECT_EQ(s4.GetBits(0), 9u);
  Literal bf16(Shape::Scalar(ElementType::kBF16));
  bf16.SetInteger(0, 257);
  EXPECT_EQ(bf16.GetDouble(0), 256);
}

}  // namespace
}  // namespace assay
