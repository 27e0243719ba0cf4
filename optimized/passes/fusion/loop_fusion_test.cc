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

int64_t Count(const Computation& computation, Opcode opcode) {
  int64_t count = 0;
  for (const Instruction* i : computation) count += i->opcode() == opcode ? 1 : 0;
  return count;
}

// Constants that several long formulas share are made in each of them, however many there are.
TEST(LoopFusion, BroadcastConstantsAreNeverWrittenOut) {
  std::string text = "x = f32[8] parameter(0)\ny = f32[8] parameter(1)\n";
  std::string a = "x", b = "y";
  for (int i = 0; i < 100; ++i) {
    const std::string k = std::to_string(i);
    text += "number" + k + " = f32[] constant(" + k + ")\n";
    text += "b" + k + " = f32[8] broadcast(number" + k + "), dimensions={}\n";
    text += "sum" + k + " = f32[8] add(" + a + ", b" + k + ")\n";
    text += "product" + k + " = f32[8] multiply(" + b + ", b" + k + ")\n";
    a = "sum" + k;
    b = "product" + k;
  }
  text += "ROOT r = (f32[8], f32[8]) tuple(" + a + ", " + b + ")\n";
  const std::unique_ptr<Module> module = Fused(text);
  EXPECT_EQ(Count(*module->entry(), Opcode::kBroadcast), 0);
  for (const Instruction* i : *module->entry()) {
    EXPECT_FALSE(i->opcode() == Opcode::kFusion && i->operand_count() == 0) << i->ToString();
  }
}

// The iota with which a reduction of several arrays counts is not an array in memory.
TEST(LoopFusion, ArgmaxTakesInItsIota) {
  const std::unique_ptr<Module> module = Fused(R"(HloModule m
argmax {
  v = f32[] parameter(0)
  i = s32[] parameter(1)
  w = f32[] parameter(2)
  j = s32[] parameter(3)
  more = pred[] compare(v, w), direction=GT
  value = f32[] select(more, v, w)
  place = s32[] select(more, i, j)
  ROOT r = (f32[], s32[]) tuple(value, place)
}
ENTRY e {
  p = f32[4,8] parameter(0)
  i = s32[8] iota(), iota_dimension=0
  b = s32[4,8] broadcast(i), dimensions={1}
  m = f32[] constant(-inf)
  z = s32[] constant(0)
  ROOT r = (f32[4], s32[4]) reduce(p, b, m, z), dimensions={1}, to_apply=argmax
})");
  EXPECT_EQ(Count(*module->entry(), Opcode::kIota), 0);
  EXPECT_EQ(Count(*module->entry(), Opcode::kFusion), 1);
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
