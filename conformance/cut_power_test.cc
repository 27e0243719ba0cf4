// Mistakes are put where they are said to be, and the measurement counts what fails.
#include "conformance/cut_power.h"

#include <gtest/gtest.h>

#include <set>

#include "conformance/cuts/excess_precision.h"
#include "conformance/cuts/mistakes.h"
#include "conformance/testing/bent_oracle.h"
#include "reference/interpreter/interpreter.h"
#include "reference/power/choice_search.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

constexpr char kProgram[] = R"(HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
body {
  s = (s32[], f32[4]{0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4]{0} get-tuple-element(s), index=1
  half = f32[] constant(0.5)
  halves = f32[4]{0} broadcast(half), dimensions={}
  next_x = f32[4]{0} multiply(x, halves)
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT t = (s32[], f32[4]{0}) tuple(next, next_x)
}
condition {
  s = (s32[], f32[4]{0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  trips = s32[] constant(3)
  ROOT go = pred[] compare(i, trips), direction=LT
}
ENTRY main {
  p = f32[4,4]{1,0} parameter(0)
  turned = f32[4,4]{1,0} transpose(p), dimensions={1,0}
  product = f32[4,4]{1,0} dot(p, turned), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  row = f32[1,4]{1,0} slice(product), slice={[0:1], [0:4]}
  flat = f32[4]{0} reshape(row)
  c = f32[] constant(0)
  sums = f32[4]{0} reduce(product, c), dimensions={1}, to_apply=add
  more = pred[4]{0} compare(sums, flat), direction=GT
  chosen = f32[4]{0} select(more, sums, flat)
  zero = s32[] constant(0)
  start = (s32[], f32[4]{0}) tuple(zero, chosen)
  loop = (s32[], f32[4]{0}) while(start), condition=condition, body=body
  ROOT out = f32[4]{0} get-tuple-element(loop), index=1
}
)";

TEST(Mistakes, AreOfManyKindsAndLeaveCountersAlone) {
  const std::unique_ptr<Module> module = *ReadModule(kProgram);
  std::set<std::string> kinds, places;
  int made = 0;
  for (const Mistake& mistake : MistakesIn(*module)) {
    const auto wrong = WithMistake(*module, mistake);
    if (!wrong.ok()) continue;  // it does not fit the shapes here
    ++made;
    kinds.insert(mistake.kind);
    places.insert(mistake.instruction);
    EXPECT_NE((*wrong)->ToString(), module->ToString()) << mistake.instruction << mistake.what;
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"accumulation", "axis", "compare", "constant", "mask",
                                          "op", "rounding", "sign of a constant", "start",
                                          "tenth of a constant"}));
  EXPECT_GT(made, 20);
  for (const char* counts : {"next", "one", "go"}) EXPECT_FALSE(places.contains(counts)) << counts;
  EXPECT_TRUE(places.contains("half"));
}

TEST(Mistakes, NeedTheirInstruction) {
  const std::unique_ptr<Module> module = *ReadModule(kProgram);
  const Mistake mistake{"nowhere", "op", "none", [](Instruction*) {}};
  EXPECT_TRUE(absl::IsNotFound(WithMistake(*module, mistake).status()));
}

// x x + 1 in bf16: with excess precision the product may stay unrounded.
TEST(ExcessPrecision, KeepsResultsInF32) {
  const std::unique_ptr<Module> module = *ReadModule(R"(HloModule m
ENTRY main {
  x = bf16[3]{0} parameter(0)
  product = bf16[3]{0} multiply(x, x)
  one = bf16[] constant(1)
  ones = bf16[3]{0} broadcast(one), dimensions={}
  sum = bf16[3]{0} add(product, ones)
  wide = f32[3]{0} convert(sum)
  ROOT t = (bf16[3]{0}, f32[3]{0}) tuple(sum, wide)
}
)");
  std::mt19937_64 random(1);
  std::set<std::string> texts;
  for (int k = 0; k < 8; ++k) {
    const std::unique_ptr<Module> wide = WithExcessPrecision(*module, random);
    ASSERT_NE(wide, nullptr);
    EXPECT_EQ(wide->entry()->root()->shape(), module->entry()->root()->shape());
    texts.insert(wide->ToString());
  }
  EXPECT_GT(texts.size(), 1u);
  const std::unique_ptr<Module> bits = *ReadModule(R"(HloModule m
ENTRY main {
  x = bf16[3]{0} parameter(0)
  ROOT bits = u16[3]{0} bitcast-convert(x)
}
)");
  EXPECT_EQ(WithExcessPrecision(*bits, random), nullptr);
}

class CutPowerTest : public testing::Test {
 protected:
  // A backend that evaluates on the oracle; with the flag "wrong" it swaps the operands of every
  // division.
  std::unique_ptr<Backend> Evaluator() {
    return BentOracle(*oracle_, [](Module& module, const CompileOptions& options) {
      if (options.flags.contains("wrong")) SwapDivisions(module);
    });
  }

  static void SwapDivisions(Module& module) {
    for (Computation* computation : module.computations()) {
      for (Instruction* each : *computation) {
        if (each->opcode() != Opcode::kDivide) continue;
        Instruction* first = each->operand(0);
        each->ReplaceOperand(0, each->operand(1));
        each->ReplaceOperand(1, first);
      }
    }
  }

  static absl::StatusOr<std::vector<Literal>> Legal(const CheckCase& check_case) {
    return reference::SearchChoices(check_case, 1'000'000);
  }

  CutPower Measure(const CutPowerOptions& wanted) {
    const std::string folder = std::string(ASSAY_SOURCE_DIR) + "/conformance/corpus/";
    const CaseFile file{"layernorm", folder + "model__layernorm_softmax.hlo",
                        folder + "model__layernorm_softmax.npz"};
    CheckOptions options;
    options.profile = &Profile::Xla();
    const std::unique_ptr<Backend> backend = Evaluator();
    absl::StatusOr<CutPower> power =
        MeasureCutPower(file, *oracle_, *backend, Legal, options, wanted);
    EXPECT_TRUE(power.ok()) << power.status();
    return power.ok() ? *std::move(power) : CutPower{};
  }

  std::unique_ptr<Oracle> oracle_ = MakeOracle();
};

TEST_F(CutPowerTest, MistakesFailWhereTheyAreAndRecompilationsDoNot) {
  const CutPower power = Measure({20, 10, {{{"right", "yes"}}}});
  EXPECT_EQ(power.mistakes.size(), 20u);
  int convicted = 0;
  for (const MistakePower& mistake : power.mistakes) {
    EXPECT_GT(mistake.visibility, 1);
    EXPECT_NE(mistake.verdict, MistakePower::kPasses) << mistake.instruction << mistake.what;
    EXPECT_EQ(mistake.Fails(), mistake.is_named) << mistake.instruction << mistake.what;
    convicted += mistake.Fails() ? 1 : 0;
  }
  EXPECT_GE(convicted, 19);
  EXPECT_EQ(power.recompiled, 10);
  EXPECT_EQ(power.recompiled_failed, 0) << power.alarms[0];
}

TEST_F(CutPowerTest, RecompilationsThatAreWrongAreCounted) {
  const CutPower power = Measure({0, 4, {{{"wrong", "yes"}}}});
  EXPECT_EQ(power.recompiled_failed, power.recompiled);
  EXPECT_EQ(power.alarms.size(), 4u);
}

}  // namespace
}  // namespace assay
