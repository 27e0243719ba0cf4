// Tests which wrong answers are only notable, and which are really wrong.
#include "fuzz/triage/notable.h"

#include <limits>

#include "gtest/gtest.h"

namespace assay {
namespace {

Literal Row(std::vector<double> values) {
  Literal row(Shape::Array(ElementType::kF32, {static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) row.SetDouble(static_cast<int64_t>(i), values[i]);
  return row;
}

std::string Note(const std::vector<double>& right, const std::vector<double>& answer) {
  Expectation expectation;
  expectation.leaves.emplace_back();
  expectation.leaves[0].plain = Row(right);
  return NotableDifference(expectation, Row(answer));
}

constexpr double kTiny = 1e-40;  // subnormal in f32

TEST(NotableTest, ZerosAloneAreNotable) {
  EXPECT_EQ(Note({0.0, 1}, {-0.0, 1}), "sign of a zero");
  EXPECT_EQ(Note({kTiny, 1}, {0, 1}), "a subnormal number became zero");
  EXPECT_EQ(Note({kTiny, -0.0}, {0, 0.0}), "a subnormal number became zero");
}

TEST(NotableTest, OneWrongElementIsAFailure) {
  EXPECT_EQ(Note({0.0, 1}, {-0.0, 2}), "");
  EXPECT_EQ(Note({0.0, 1}, {kTiny, 1}), "") << "a number for a zero";
  EXPECT_EQ(Note({1e-30, 1}, {0, 1}), "") << "a normal number is never flushed";
  EXPECT_EQ(Note({std::numeric_limits<double>::quiet_NaN(), 1}, {0, 1}), "");
}

TEST(NotableTest, PartsOfComplexNumbersAreNumbers) {
  Literal right(Shape::Array(ElementType::kC64, {1})), answer = right;
  right.SetComponentBits(0, 0x40300000);   // 2.75
  answer.SetComponentBits(0, 0x40300000);  // with +0 for the other part
  answer.SetComponentBits(1, 0x80000000);  // -0
  Expectation expectation;
  expectation.leaves.emplace_back();
  expectation.leaves[0].plain = right;
  EXPECT_EQ(NotableDifference(expectation, answer), "sign of a zero");
  answer.SetComponentBits(0, 0x40400000);
  EXPECT_EQ(NotableDifference(expectation, answer), "");
}

TEST(NotableTest, WhatPassesIsNotNotable) {
  EXPECT_EQ(Note({0.0, 1}, {0.0, 1}), "");
  EXPECT_EQ(NotableDifference(Expectation(), Literal()), "");
}

}  // namespace
}  // namespace assay
