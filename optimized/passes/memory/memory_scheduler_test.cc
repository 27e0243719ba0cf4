// Schedules need no more memory than the trivial order, and less where an order can help.
#include "optimized/passes/memory/memory_scheduler.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "optimized/passes/memory/descheduler.h"
#include "optimized/passes/pass_testing.h"
#include "optimized/pipeline/pipeline.h"
#include "spec/base/strings.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

// Two large values, each of which becomes a small one: a walk from the root makes both large ones
// first, since the small ones are read through values that need both.
constexpr char kTwoLarge[] = R"(HloModule m
ENTRY main {
  x = f32[] parameter(0)
  a = f32[1024] broadcast(x), dimensions={}
  b = f32[1024] broadcast(x), dimensions={}
  ab = f32[2048] concatenate(a, b), dimensions={0}
  s = f32[1] slice(ab), slice={[0:1]}
  c = f32[1024] broadcast(x), dimensions={}
  d = f32[1] slice(c), slice={[0:1]}
  ROOT r = (f32[2048], f32[1], f32[1]) tuple(ab, s, d)
})";

std::vector<std::string> NamesOf(const InstructionOrder& order) {
  std::vector<std::string> names;
  for (const Instruction* inst : order) names.emplace_back(inst->name());
  return names;
}

TEST(MemoryScheduler, CountsWhatIsAliveAtOnce) {
  const std::unique_ptr<Module> module = ReadForTest(kTwoLarge);
  ASSERT_NE(module, nullptr);
  const InstructionOrder order(module->entry()->PostOrder());
  // a and b for ab, which is a result.
  EXPECT_EQ(PeakOf(order).plain, 4 * (1024 + 1024));
}

// A large value that is only read for a small one comes before one that stays.
TEST(MemoryScheduler, MakesTheSmallResultFirst) {
  const std::unique_ptr<Module> module = ReadForTest(R"(HloModule m
ENTRY main {
  x = f32[4096] parameter(0)
  stays = f32[4096] negate(x)
  other = f32[4096] exponential(x)
  small = f32[1] slice(other), slice={[0:1]}
  zero = s32[] constant(0)
  ROOT r = f32[4096] dynamic-update-slice(stays, small, zero)
})");
  ASSERT_NE(module, nullptr);
  const Computation& entry = *module->entry();
  const InstructionOrder trivial = entry.PostOrder(),
                         order = LeastMemoryOrder(entry, Purity(*module));
  EXPECT_EQ(order.size(), trivial.size());
  EXPECT_TRUE(PeakOf(order).IsBetterThan(PeakOf(trivial)))
      << ::testing::PrintToString(NamesOf(order));
  Gates gates;
  PassContext context{gates, Profile::Xla()};
  EXPECT_TRUE(*MemoryScheduler().Run(*module, context));
  EXPECT_TRUE(module->has_schedule());
  EXPECT_EQ(Verify(*module), absl::OkStatus());
  EXPECT_EQ(InstructionOrder(entry.begin(), entry.end()), order);
  // Refused, the trivial order stays.
  Gates none(0);
  PassContext refused{none, Profile::Xla()};
  EXPECT_TRUE(*Descheduler().Run(*module, refused));
  EXPECT_FALSE(module->has_schedule());
  EXPECT_FALSE(*MemoryScheduler().Run(*module, refused));
}

// Effects that nothing else orders stay as they were.
TEST(MemoryScheduler, EffectsKeepTheirOrder) {
  const std::unique_ptr<Module> module = ReadForTest(R"(HloModule m
ENTRY main {
  x = f32[64] parameter(0)
  a = f32[64] custom-call(x), custom_call_target="one", custom_call_has_side_effect=true
  b = f32[] custom-call(a), custom_call_target="two", custom_call_has_side_effect=true
  c = f32[] custom-call(x), custom_call_target="three", custom_call_has_side_effect=true
  ROOT r = (f32[], f32[]) tuple(b, c)
})");
  ASSERT_NE(module, nullptr);
  EXPECT_THAT(NamesOf(LeastMemoryOrder(*module->entry(), Purity(*module))),
              ::testing::ElementsAre("x", "a", "b", "c", "r"));
}

// A module that comes with a schedule and an op that is expanded compiles like any other.
TEST(Descheduler, RequiredPassesMayAddAnywhere) {
  const std::unique_ptr<Module> module = ReadForTest(R"(HloModule m, is_scheduled=true
ENTRY main {
  x = f32[4,8] parameter(0)
  i = s32[2] parameter(1)
  d = f32[2,3] dynamic-slice(x, i), dynamic_slice_sizes={2,3}
  ROOT n = f32[2,3] negate(d)
})");
  ASSERT_NE(module, nullptr);
  Gates gates;
  PipelineOptions options;
  options.verify_each = true;
  EXPECT_EQ(RunRequired(Stage::kLegalize, *module, gates, options), absl::OkStatus());
  EXPECT_FALSE(module->has_schedule());
}

}  // namespace
}  // namespace assay
