// Tests how kernels go through their results, which is decided from shapes alone.
#include "optimized/plan/walk_plan.h"

#include "gtest/gtest.h"
#include "spec/ir/module.h"

namespace assay {
namespace {

Shape F32(std::vector<int64_t> dimensions) { return Shape::Array(ElementType::kF32, dimensions); }

WalkPlan Plan(const Shape& written, const Shape& result, bool linear, int width, bool lanes) {
  WalkChoice choice{written, result, linear, width};
  choice.can_walk_lanes = [&](int) { return lanes; };
  return PlanWalk(choice);
}

TEST(WalkPlan, IsLinearWhereEverythingIs) {
  const Shape shape = F32({4, 16});
  EXPECT_EQ(Plan(shape, shape, true, 8, false), (WalkPlan{WalkPlan::kLinear, -1, 8}));
  EXPECT_EQ(Plan(shape, shape, true, 1, false), (WalkPlan{WalkPlan::kLinear, -1, 1}));
  const Shape few = F32({7}), very_few = F32({3});
  EXPECT_EQ(Plan(few, few, true, 8, false), (WalkPlan{WalkPlan::kLinear, -1, 4}));
  EXPECT_EQ(Plan(very_few, very_few, true, 8, false), (WalkPlan{WalkPlan::kLinear, -1, 1}));
  EXPECT_EQ(Plan(few, few, true, 2, false), (WalkPlan{WalkPlan::kLinear, -1, 2}));
}

TEST(WalkPlan, RunsLanesAlongTheInnermostDimension) {
  const Shape shape = F32({4, 16, 1});
  EXPECT_EQ(Plan(shape, shape, false, 8, true), (WalkPlan{WalkPlan::kLanes, 1, 8}));
  EXPECT_EQ(Plan(shape, shape, false, 8, false), WalkPlan());
  EXPECT_EQ(Plan(F32({16, 4}), F32({16, 4}), false, 8, true), (WalkPlan{WalkPlan::kLanes, 1, 4}));
  EXPECT_EQ(Plan(F32({16, 3}), F32({16, 3}), false, 8, true), WalkPlan());  // too short
  EXPECT_EQ(Plan(F32({1, 1}), F32({1, 1}), false, 8, true), WalkPlan());
}

TEST(WalkPlan, NeedsTheResultContiguousToo) {
  EXPECT_EQ(Plan(F32({16, 1}), F32({16, 2}), false, 8, true), WalkPlan());
  EXPECT_EQ(Plan(F32({16, 1}), F32({32, 1}), false, 8, true), (WalkPlan{WalkPlan::kLanes, 0, 8}));
}

TEST(WalkPlan, WithoutVectorsKeepsALinearWalk) {
  EXPECT_EQ(WithoutVectors({WalkPlan::kLinear, -1, 8}), (WalkPlan{WalkPlan::kLinear, -1, 1}));
  EXPECT_EQ(WithoutVectors({WalkPlan::kLanes, 1, 8}), WalkPlan());
}

TEST(WalkPlan, SquaresFitBothSidesOrAreSmall) {
  EXPECT_EQ(TurnedSquare(16, 64, 4096), 16);
  EXPECT_EQ(TurnedSquare(16, 64, 56), 8);
  EXPECT_EQ(TurnedSquare(64, 64, 64), 16);
  EXPECT_EQ(TurnedSquare(16, 100, 37), 8);  // with a rest on both sides
  EXPECT_EQ(TurnedSquare(16, 100, 7), 1);
  EXPECT_EQ(TurnedSquare(4, 64, 64), 1);
}

TEST(WalkPlan, TheWidestTypeSetsTheWidth) {
  Module module("m");
  Computation* computation = module.AddComputation("main");
  module.set_entry(computation);
  const auto convert_to = [&](ElementType type) {
    Instruction* x = computation->AddParameter(computation->parameter_count(),
                                               Shape::Array(ElementType::kF32, {4}));
    return computation->Add(Opcode::kConvert, Shape::Array(type, {4}), {x});
  };
  EXPECT_EQ(ElementsPerVector(*convert_to(ElementType::kS8), 256), 8);
  EXPECT_EQ(ElementsPerVector(*convert_to(ElementType::kF64), 256), 4);
  EXPECT_EQ(ElementsPerVector(*convert_to(ElementType::kC64), 256), 1);
  EXPECT_EQ(ElementsPerVector(*convert_to(ElementType::kF32), 0), 1);
}

TEST(SplitPlan, CutsLargeLoopsIntoPartsOfWholeUnits) {
  constexpr int64_t kLarge = int64_t{1} << 24;
  const SplitPlan split = PlanSplit({kLarge, 64, kLarge}, 129);
  EXPECT_TRUE(split.is_worthwhile);
  EXPECT_EQ(split.extent, kLarge);
  EXPECT_EQ(split.grain % 64, 0);
  EXPECT_LE(split.grain * 128, kLarge + 128 * 64);
  EXPECT_FALSE(PlanSplit({kLarge, 64, kLarge}, 1).is_worthwhile);
  EXPECT_FALSE(PlanSplit({100, 64, kLarge}, 8).is_worthwhile);
  EXPECT_EQ(PlanSplit({4096, 64, kLarge}, 1000).grain, 64);
}

}  // namespace
}  // namespace assay
