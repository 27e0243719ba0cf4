// Plans: the way in which each step is evaluated, what they leave out, and when values are dropped.
#include "reference/interpreter/plan.h"

#include <gtest/gtest.h>

#include "spec/text/reader.h"

namespace assay::reference {
namespace {

class PlanTest : public ::testing::Test {
 protected:
  // The plan of the entry of `text`, which stays alive with the test.
  const Plan& PlanOf(std::string_view text) {
    absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
    EXPECT_TRUE(module.ok()) << module.status();
    module_ = *std::move(module);
    absl::StatusOr<const Plan*> plan = plans_.PlanOf(*module_->entry(), memory_);
    EXPECT_TRUE(plan.ok()) << plan.status();
    return **plan;
  }

  const Plan::Step* Find(const Plan& plan, std::string_view name) {
    for (const Plan::Step& step : plan.steps)
      if (step.instruction->name() == name) return &step;
    return nullptr;
  }

  std::unique_ptr<Module> module_;
  MemoryMeter memory_{1 << 20};
  Plans plans_{/*bounding=*/true};
};

TEST_F(PlanTest, DecidesOnceHowEachStepIsEvaluated) {
  const Plan& plan = PlanOf(R"(HloModule m
ENTRY e {
  p = f32[<=4] parameter(0)
  q = f32[4] parameter(1)
  c = f32[4] constant({1, 2, 3, 4})
  sum = f32[4] add(q, c)
  back = f32[4] reverse(sum), dimensions={0}
  grown = f32[<=4] negate(p)
  at = s32[] constant(1)
  window = f32[2] dynamic-slice(p, at), dynamic_slice_sizes={2}
  ROOT all = (f32[4], f32[<=4], f32[2]) tuple(back, grown, window)
})");
  const std::pair<std::string_view, StepKind> wanted[] = {
      {"p", StepKind::kParameter},    {"q", StepKind::kParameter},
      {"c", StepKind::kConstant},     {"sum", StepKind::kPlain},
      {"back", StepKind::kPlain},     {"grown", StepKind::kRunTimeSize},
      {"window", StepKind::kWindows},
  };
  for (const auto& [name, kind] : wanted) {
    const Plan::Step* step = Find(plan, name);
    ASSERT_NE(step, nullptr) << name;
    EXPECT_EQ(step->kind, kind) << name;
    EXPECT_EQ(step->in_blocks, name == "sum") << name;
  }
  EXPECT_FALSE(plan.liftable);
}

TEST_F(PlanTest, LeavesOutWhatTheRootDoesNotNeedAndDropsValuesAfterTheirLastUser) {
  const Plan& plan = PlanOf(R"(HloModule m
ENTRY e {
  p = f32[] parameter(0)
  unused = f32[] negate(p)
  twice = f32[] add(p, p)
  ROOT r = f32[] multiply(twice, p)
})");
  EXPECT_EQ(Find(plan, "unused"), nullptr);
  EXPECT_TRUE(plan.liftable);
  EXPECT_EQ(plan.steps[plan.root].instruction->name(), "r");
  EXPECT_EQ(Find(plan, "r")->dead_after.size(), 2u);
  EXPECT_TRUE(Find(plan, "twice")->dead_after.empty());
}

TEST_F(PlanTest, SaysWhichResultsAnAdditionMayReadUnrounded) {
  const Plan& plan = PlanOf(R"(HloModule m
ENTRY e {
  a = f32[2] parameter(0)
  b = f32[2] parameter(1)
  added = f32[2] multiply(a, b)
  moved = f32[2] reverse(added), dimensions={0}
  sum = f32[2] add(moved, a)
  rounded = f32[2] multiply(a, a)
  root = f32[2] sqrt(rounded)
  ROOT all = (f32[2], f32[2]) tuple(sum, root)
})");
  EXPECT_TRUE(Find(plan, "moved")->may_feed_sum);
  EXPECT_TRUE(Find(plan, "added")->may_feed_sum);
  EXPECT_FALSE(Find(plan, "rounded")->may_feed_sum);
  EXPECT_FALSE(Find(plan, "sum")->may_feed_sum);
  EXPECT_TRUE(Find(plan, "rounded")->is_rounded_product);
  EXPECT_FALSE(Find(plan, "added")->is_rounded_product);
  EXPECT_FALSE(Find(plan, "sum")->is_rounded_product) << "no product";
}

TEST(Value, IsReleasedOnlyToItsOnlyHolder) {
  MemoryMeter memory(1 << 20);
  Value value = MakeValue(Array(Literal(Shape::Array(ElementType::kF32, {4}))), memory);
  const Value copy = value;
  EXPECT_FALSE(value.Release().has_value());
  ASSERT_NE(value.array, nullptr);
  Value only = MakeValue(Array(Literal(Shape::Array(ElementType::kF32, {4}))), memory);
  ASSERT_FALSE(memory.Check((1 << 20) - 31).ok()) << "two arrays of 16 bytes are alive";
  const std::optional<Array> released = only.Release();
  ASSERT_TRUE(released.has_value());
  EXPECT_EQ(released->literal.element_count(), 4);
  EXPECT_EQ(only.array, nullptr);
  EXPECT_TRUE(memory.Check((1 << 20) - 31).ok()) << "the bytes of a released array are given back";
}

}  // namespace
}  // namespace assay::reference
