// Loops: how often they run, what unrolling, hoisting and planted defects make of them. Rewrites
// that need no program of their own are data: testdata/passes/control_flow.txt.
#include "optimized/analysis/while_state.h"
#include "optimized/defects/defect.h"
#include "optimized/defects/plant.h"
#include "optimized/passes/control_flow/tuple_simplifier.h"
#include "optimized/passes/control_flow/while_invariant_code_motion.h"
#include "optimized/passes/control_flow/while_simplifier.h"
#include "optimized/passes/pass_testing.h"

namespace assay {
namespace {

// A counted loop whose state is (counter, sum, bound that never changes).
std::string Loop(const std::string& type, const std::string& first, const std::string& step,
                 const std::string& bound, const std::string& direction, bool swapped = false) {
  const std::string t = type + "[]";
  const std::string state = "(" + t + ", f32[2], " + t + ")";
  return "HloModule m\n"
         "cond { s = " +
         state + " parameter(0)\n" + "  i = " + t + " get-tuple-element(s), index=0\n" +
         "  b = " + t + " get-tuple-element(s), index=2\n" + "  ROOT r = pred[] compare(" +
         (swapped ? "b, i" : "i, b") + "), direction=" + direction + " }\n" +
         "body { s = " + state + " parameter(0)\n" + "  i = " + t +
         " get-tuple-element(s), index=0\n" + "  x = f32[2] get-tuple-element(s), index=1\n" +
         "  b = " + t + " get-tuple-element(s), index=2\n" + "  c = " + t + " constant(" + step +
         ")\n" + "  n = " + t + " add(i, c)\n" + "  y = f32[2] multiply(x, x)\n" +
         "  ROOT r = " + state + " tuple(n, y, b) }\n" + "ENTRY main { x = f32[2] parameter(0)\n" +
         "  a = " + t + " constant(" + first + ")\n" + "  b = " + t + " constant(" + bound + ")\n" +
         "  s = " + state + " tuple(a, x, b)\n" + "  w = " + state +
         " while(s), condition=cond, body=body\n" +
         "  ROOT y = f32[2] get-tuple-element(w), index=1 }\n";
}

std::optional<int64_t> Trips(const std::string& text) {
  std::unique_ptr<Module> module = ReadForTest(text);
  if (module == nullptr) return std::nullopt;
  return TripCount(module->entry()->root()->operand(0), 1000);
}

TEST(TripCount, CountsInTheTypeOfTheCounter) {
  EXPECT_EQ(Trips(Loop("s32", "0", "1", "5", "LT")), 5);
  EXPECT_EQ(Trips(Loop("s32", "0", "2", "5", "LT")), 3);
  EXPECT_EQ(Trips(Loop("s32", "0", "2", "5", "LE")), 3);
  EXPECT_EQ(Trips(Loop("s32", "3", "-1", "-1", "GT")), 4);
  EXPECT_EQ(Trips(Loop("s32", "3", "-1", "-1", "GE")), 5);
  EXPECT_EQ(Trips(Loop("s32", "5", "1", "5", "LT")), 0);
  EXPECT_EQ(Trips(Loop("s32", "0", "1", "5", "GT", true)), 5);
  // Without counting: beyond what is counted, up to the last number of the type and beyond it.
  EXPECT_EQ(Trips(Loop("s16", "-32768", "66", "32000", "LT")), 982);
  EXPECT_EQ(Trips(Loop("u8", "0", "5", "254", "LE")), 51);
  EXPECT_EQ(Trips(Loop("u8", "0", "5", "255", "LE")), std::nullopt);  // 255 + 5 wraps to 4
  EXPECT_EQ(Trips(Loop("u8", "250", "3", "1", "NE")), 173);           // 250 + 3 * 173 = 3 * 256 + 1
  EXPECT_EQ(Trips(Loop("s8", "120", "1", "0", "GE")), 8);             // until 127 wraps to -128
  EXPECT_EQ(Trips(Loop("u64", "18446744073709551614", "1", "1", "GT")), 2);
  EXPECT_EQ(Trips(Loop("s32", "0", "2", "5", "NE")), std::nullopt);  // never meets it
  EXPECT_EQ(Trips(Loop("s32", "0", "1", "5000", "LT")), std::nullopt);
}

int64_t CountOf(const Module& module, Opcode opcode) {
  int64_t count = 0;
  for (const Instruction* inst : *module.entry()) count += inst->opcode() == opcode;
  return count;
}

TEST(WhileSimplifier, UnrollsFewTrips) {
  for (const auto& [bound, multiplies] : {std::pair("0", 0), {"1", 1}, {"3", 3}}) {
    std::unique_ptr<Module> module = ReadForTest(Loop("s32", "0", "1", bound, "LT"));
    EXPECT_TRUE(RunForTest<WhileSimplifier>(*module));
    RunForTest<TupleSimplifier>(*module);
    EXPECT_EQ(CountOf(*module, Opcode::kWhile), 0);
    EXPECT_EQ(CountOf(*module, Opcode::kMultiply), multiplies);
  }
  std::unique_ptr<Module> module = ReadForTest(Loop("s32", "0", "1", "50", "LT"));
  RunForTest<WhileSimplifier>(*module);
  EXPECT_EQ(CountOf(*module, Opcode::kWhile), 1);
}

TEST(WhileSimplifier, DropsElementsThatNobodyNeeds) {
  // The bound becomes a constant of the condition, so that the state need not carry it.
  std::unique_ptr<Module> module = ReadForTest(Loop("s32", "0", "1", "50", "LT"));
  EXPECT_TRUE(RunForTest<WhileSimplifier>(*module));
  for (const Instruction* inst : *module->entry()) {
    if (inst->opcode() == Opcode::kWhile) {
      EXPECT_EQ(inst->shape().elements().size(), 2u);
    }
  }
}

TEST(WhileSimplifier, DefectMovesTheTripCount) {
  std::unique_ptr<Module> module = ReadForTest(Loop("s32", "0", "1", "3", "LT"));
  Gates gates(-1, Plant(*ParseDefect(R"({"name": "d", "gate": "trip-count", "kind": "fact",
                                    "op": "integer-offset", "parameters": {"by": -1}})")));
  PassContext context{gates, Profile::Strict()};
  ASSERT_TRUE(WhileSimplifier().Run(*module, context).ok());
  EXPECT_EQ(CountOf(*module, Opcode::kMultiply), 2);
  EXPECT_EQ(Verify(*module), absl::OkStatus());
}

constexpr char kInvariant[] = R"(HloModule m
  cond { s = (s32[], f32[4], f32[4,4]) parameter(0)
    i = s32[] get-tuple-element(s), index=0
    n = s32[] constant(50)
    ROOT r = pred[] compare(i, n), direction=LT }
  body { s = (s32[], f32[4], f32[4,4]) parameter(0)
    i = s32[] get-tuple-element(s), index=0
    x = f32[4] get-tuple-element(s), index=1
    m = f32[4,4] get-tuple-element(s), index=2
    e = f32[4,4] exponential(m)
    t = f32[4,4] tanh(e)
    y = f32[4] dot(t, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    one = s32[] constant(1)
    n = s32[] add(i, one)
    ROOT r = (s32[], f32[4], f32[4,4]) tuple(n, y, NEXT) }
  ENTRY main {
    x = f32[4] parameter(0)
    m = f32[4,4] parameter(1)
    z = s32[] constant(0)
    s = (s32[], f32[4], f32[4,4]) tuple(z, x, m)
    w = (s32[], f32[4], f32[4,4]) while(s), condition=cond, body=body
    ROOT y = f32[4] get-tuple-element(w), index=1 })";

std::unique_ptr<Module> Hoisted(const std::string& next, bool& changed) {
  std::string text = kInvariant;
  std::unique_ptr<Module> module = ReadForTest(text.replace(text.find("NEXT"), 4, next));
  changed = RunForTest<WhileInvariantCodeMotion>(*module);
  return module;
}

TEST(WhileInvariantCodeMotion, MovesTheWholeChain) {
  bool changed = false;
  std::unique_ptr<Module> module = Hoisted("m", changed);
  EXPECT_TRUE(changed);
  EXPECT_EQ(CountOf(*module, Opcode::kExponential), 1);
  EXPECT_EQ(CountOf(*module, Opcode::kTanh), 1);
  EXPECT_EQ(CountOf(*module, Opcode::kDot), 0);
  for (const Computation* computation : module->computations()) {
    if (computation == module->entry()) continue;
    for (const Instruction* inst : *computation) EXPECT_NE(inst->opcode(), Opcode::kTanh);
  }
}

TEST(WhileInvariantCodeMotion, LeavesWhatChanges) {
  bool changed = false;
  Hoisted("t", changed);
  EXPECT_FALSE(changed);
}

}  // namespace
}  // namespace assay
