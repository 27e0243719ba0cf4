// Behaviour of loop fusion beside the rewrites of testdata/passes/loop_fusion.txt.
#include "optimized/passes/fusion/loop_fusion.h"

#include "optimized/passes/pass_testing.h"

namespace assay {
namespace {

std::unique_ptr<Module> Fused(const std::string& text) {
  std::unique_ptr<Module> module = ReadForTest(text);
  if (module != nullptr) RunForTest<LoopFusion>(*module);
  return module;
}

TEST(LoopFusion, LaddersDoNotGrowExponentially) {
  std::string text = "x0 = f32[8] parameter(0)\n";
  for (int i = 0; i < 30; ++i) {
    const std::string at = std::to_string(i), next = std::to_string(i + 1);
    text += "r" + at + " = f32[8] reverse(x" + at + "), dimensions={0}\n";
    text += std::string(i == 29 ? "ROOT " : "") + "x" + next + " = f32[8] add(x" + at + ", r" + at +
            ")\n";
  }
  EXPECT_LT(Fused(text)->InstructionCount(), 200);
}

TEST(LoopFusion, RefusedStaysApart) {
  std::unique_ptr<Module> module = ReadForTest(R"(
    x = f32[8] parameter(0)
    n = f32[8] negate(x)
    ROOT a = f32[8] exponential(n))");
  Gates gates(0);
  PassContext context{gates, Profile::Strict()};
  EXPECT_FALSE(*LoopFusion().Run(*module, context));
  EXPECT_EQ(gates.count(), 1);
}

}  // namespace
}  // namespace assay
