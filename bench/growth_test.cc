// Reads cases of growth, and holds every op of the compiler against the law of its definition by
// counting steps.
#include "bench/growth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "optimized/cpu/cpu_backend.h"
#include "optimized/cpu/cpu_target.h"
#include "optimized/plan/support.h"
#include "spec/base/file.h"
#include "spec/base/strings.h"
#include "spec/ops/op_table.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

constexpr char kSquares[] = R"(# programs of squares
== square | n^2 | 8
HloModule m
ENTRY e { x = f32[{n},{n*2}] parameter(0) ROOT r = f32[{n},{n*2}] negate(x) }
== line | n log n | 16 | sine cosine
HloModule m
ENTRY e { x = f32[{n/4},{n-1},{n+1}] parameter(0) ROOT r = f32[{n/4},{n-1},{n+1}] {op}(x) }
)";

TEST(ParseGrowthCasesTest, MakesACasePerOp) {
  const auto cases = ParseGrowthCases(kSquares);
  ASSERT_TRUE(cases.ok()) << cases.status();
  ASSERT_EQ(cases->size(), 3);
  EXPECT_EQ((*cases)[0].law.ToString(), "n^2");
  EXPECT_THAT((*cases)[0].ModuleText(8), HasSubstr("f32[8,16] negate(x)"));
  EXPECT_EQ((*cases)[1].name, "line/sine");
  EXPECT_EQ((*cases)[2].name, "line/cosine");
  EXPECT_EQ((*cases)[2].n, 16);
  EXPECT_THAT((*cases)[2].ModuleText(16), HasSubstr("f32[4,15,17] cosine(x)"));
  EXPECT_NEAR((*cases)[2].law.Of(16), 64, 1e-9);
}

TEST(ParseGrowthCasesTest, NamesTheLineOfAnError) {
  const std::pair<const char*, const char*> kWrong[] = {
      {"HloModule m", "line 1: expected a line that begins with =="},
      {"# c\n== a | n", "line 2: expected == NAME | LAW | N"},
      {"== a | m | 3", "line 1: 'm' is no law"},
      {"== a | n^99 | 3", "line 1: 'n^99' is no law"},
      {"== a | n | 0", "line 1: '0' is no size"},
      {"== a | n | 99999999999999", "is no size"},
      {"== a | n | 4 | ", "line 1: the list of ops is empty"},
      {"== a | n | 4\n{n%2}", "line 2: after {n"},
      {"== a | n | 4\n{n", "line 2: after {n"},
      {"== a | n | 4\n{n/0}", "line 2: after {n"},
  };
  for (const auto& [text, message] : kWrong) {
    EXPECT_THAT(std::string(ParseGrowthCases(text).status().message()), HasSubstr(message)) << text;
  }
}

class GrowthTest : public testing::Test {
 protected:
  void SetUp() override {
    RegisterCpu(registry_);
    auto counting = registry_.Create("cpu:count=on,direct=off");
    ASSERT_TRUE(counting.ok()) << counting.status();
    counting_ = *std::move(counting);
  }

  BackendRegistry registry_;
  std::unique_ptr<Backend> counting_;
};

// A sum over windows that grow with the array does work by the square.
TEST_F(GrowthTest, SeesWorkThatGrowsTooFast) {
  const auto cases = ParseGrowthCases(R"(== windows | n | 64
HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
ENTRY e {
  x = f32[{n*2}] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[{n+1}] reduce-window(x, z), window={size={n}}, to_apply=add
})");
  ASSERT_TRUE(cases.ok()) << cases.status();
  const GrowthResult result = MeasureGrowth(cases->front(), nullptr, *counting_, 64, 0);
  EXPECT_EQ(result.error, "");
  EXPECT_GT(result.StepRatio(), 100);
  EXPECT_NEAR(result.DefinedRatio(), 16, 1e-9);
  EXPECT_FALSE(result.GrowsAsDefined());
  EXPECT_THAT(GrowthPage("command", {result}), HasSubstr("**too much**"));
}

TEST_F(GrowthTest, TellsWhyNothingWasMeasured) {
  const auto cases = ParseGrowthCases("== wrong | n | 4\nHloModule m\nENTRY e { nothing }\n");
  ASSERT_TRUE(cases.ok()) << cases.status();
  EXPECT_NE(MeasureGrowth(cases->front(), nullptr, *counting_, 4, 0).error, "");
}

TEST_F(GrowthTest, EveryOpGrowsAsItsDefinitionDoes) {
  const auto text = ReadFile(StrCat(ASSAY_SOURCE_DIR, "/bench/growth_cases.txt"));
  ASSERT_TRUE(text.ok()) << text.status();
  const auto cases = ParseGrowthCases(*text);
  ASSERT_TRUE(cases.ok()) << cases.status();
  std::set<Opcode> seen;
  for (const GrowthCase& one : *cases) {
    const auto module = ReadModule(one.ModuleText(one.n));
    ASSERT_TRUE(module.ok()) << one.name << ": " << module.status();
    for (const Computation* computation : (*module)->computations()) {
      for (const Instruction* i : *computation) seen.insert(i->opcode());
    }
    const GrowthResult result = MeasureGrowth(one, nullptr, *counting_, one.n, 0);
    EXPECT_EQ(result.error, "") << one.name;
    EXPECT_TRUE(result.GrowsAsDefined())
        << one.name << ": " << result.points[0].steps << " steps for n = " << result.points[0].n
        << ", " << result.points[2].steps << " for " << result.points[2].n;
  }
  for (const OpInfo& op : AllOps()) {
    EXPECT_TRUE(!IsCompiled(CpuTarget(), op.opcode) || seen.count(op.opcode) == 1)
        << "bench/growth_cases.txt has no program with " << op.name;
  }
}

}  // namespace
}  // namespace assay
