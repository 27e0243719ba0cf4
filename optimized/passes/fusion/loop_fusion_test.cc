#include "optimized/passes/fusion/loop_fusion.h"

#include "optimized/passes/pass_testing.h"

namespace assay {
namespace {

std::unique_ptr<Module> Fused(const std::string& text) {
  std::unique_ptr<Module> module = ReadForTest(text);
  if (module != nullptr) RunForTest<LoopFusion>(*module);
  return module;
}

int64_t CountOf(const Module& module, Opcode opcode, bool entry_only) {
  int64_t count = 0;
  for (const Computation* computation : module.computations()) {
    if (entry_only && computation != module.entry()) continue;
    for (const Instruction* inst : *computation) count += inst->opcode() == opcode;
  }
  return count;
}

TEST(LoopFusion, ChainBecomesOneKernel) {
  std::unique_ptr<Module> module = Fused(R"(
    x = f32[8] parameter(0)
    e = f32[8] exponential(x)
    c = f32[] constant(2)
    b = f32[8] broadcast(c), dimensions={}
    m = f32[8] multiply(e, b)
    ROOT r = f32[8] reverse(m), dimensions={0})");
  EXPECT_EQ(module->entry()->instruction_count(), 2);
  EXPECT_EQ(CountOf(*module, Opcode::kFusion, true), 1);
}

TEST(LoopFusion, ExpensiveIsComputedOnce) {
  // exp(x) is needed by two kernels: neither takes it in.
  std::unique_ptr<Module> module = Fused(R"(
    x = f32[8] parameter(0)
    e = f32[8] exponential(x)
    a = f32[8] reverse(e), dimensions={0}
    b = f32[8] add(a, e)
    c = f32[8] multiply(e, e)
    ROOT r = (f32[8], f32[8]) tuple(b, c))");
  EXPECT_EQ(CountOf(*module, Opcode::kExponential, false), 1);
  EXPECT_EQ(CountOf(*module, Opcode::kExponential, true), 1);
  // Behind a broadcast it would be computed once per row.
  module = Fused(R"(
    x = f32[8] parameter(0)
    e = f32[8] exponential(x)
    ROOT b = f32[4,8] broadcast(e), dimensions={1})");
  EXPECT_EQ(CountOf(*module, Opcode::kFusion, true), 0);
}

TEST(LoopFusion, CheapIsComputedAgain) {
  std::unique_ptr<Module> module = Fused(R"(
    x = f32[8] parameter(0)
    n = f32[8] negate(x)
    a = f32[8] exponential(n)
    b = f32[8] tanh(n)
    ROOT r = (f32[8], f32[8]) tuple(a, b))");
  EXPECT_EQ(CountOf(*module, Opcode::kNegate, false), 2);
  EXPECT_EQ(CountOf(*module, Opcode::kFusion, true), 2);
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

TEST(LoopFusion, ReduceTakesItsProducers) {
  std::unique_ptr<Module> module = Fused(R"(HloModule m
    c { a = f32[] parameter(0)
        b = f32[] parameter(1)
        ROOT r = f32[] add(a, b) }
    ENTRY main {
      x = f32[8,4] parameter(0)
      m = f32[8,4] multiply(x, x)
      z = f32[] constant(0)
      r = f32[8] reduce(m, z), dimensions={1}, to_apply=c
      ROOT n = f32[8] negate(r) })");
  // The reduce is a root, never a producer.
  EXPECT_EQ(CountOf(*module, Opcode::kNegate, true), 1);
  EXPECT_EQ(CountOf(*module, Opcode::kReduce, true), 0);
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
