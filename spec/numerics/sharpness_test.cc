// Tests how much room bounds leave for a mistake that shows.
#include "spec/numerics/sharpness.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

// Two elements, 1 and 100, with these radii.
ArrayExpectation OfTwo(ElementType type, double first, double second) {
  ArrayExpectation leaf;
  leaf.plain = Literal(Shape::Array(type, {2}));
  leaf.plain.SetDouble(0, 1);
  leaf.plain.SetDouble(1, 100);
  leaf.bounds.resize(2);
  leaf.bounds[0] = {.centre = 1, .radius = first};
  leaf.bounds[1] = {.centre = 100, .radius = second};
  return leaf;
}

TEST(Sharpness, IsAskedOfWhatShows) {
  // The root mean square is 70.7; of the larger element itself counts.
  EXPECT_EQ(CountBlunt(OfTwo(ElementType::kF32, 0.034, 0.048)), 0);
  EXPECT_EQ(CountBlunt(OfTwo(ElementType::kF32, 0.035, 0.049)), 2);
  EXPECT_EQ(CountBlunt(OfTwo(ElementType::kBF16, 0.55, 0.78)), 0);
  EXPECT_EQ(CountBlunt(OfTwo(ElementType::kF16, 0.56, 0.79)), 2);
  EXPECT_EQ(VisibleShare(ElementType::kC64), VisibleShare(ElementType::kF64));
}

TEST(Sharpness, IsNotWhatNobodyKnows) {
  Expectation expectation;
  expectation.leaves.push_back(OfTwo(ElementType::kF32, 1e-6, 1e-6));
  EXPECT_TRUE(IsSharp(expectation));
  ArrayExpectation& leaf = expectation.leaves[0];
  leaf.bounds[0].flags = kUndecided;
  EXPECT_EQ(CountBlunt(leaf), 1);
  leaf.choices[1] = {1, 2};
  EXPECT_EQ(CountBlunt(leaf), 2);
  leaf = OfTwo(ElementType::kF32, 1e-6, 1e-6);
  leaf.bounds[1].flags = kForced;
  leaf.bounds[1].radius = 50;
  EXPECT_TRUE(IsSharp(expectation));
  expectation.inconclusive = "a loop";
  EXPECT_FALSE(IsSharp(expectation));
}

}  // namespace
}  // namespace assay
