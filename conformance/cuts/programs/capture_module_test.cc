// A program with captures gives its own results as before and, behind them, the values from inside,
// those of loops stacked by their trips.
#include "conformance/cuts/programs/capture_module.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "conformance/cuts/programs/capture_choice.h"
#include "conformance/cuts/programs/pieces.h"
#include "reference/interpreter/interpreter.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

// Twice x + 1 by the same computation; a loop of 3 trips around a loop of 2 around a conditional.
constexpr char kProgram[] = R"(HloModule m

plus_one {
  a = f32[2]{0} parameter(0)
  c = f32[] constant(1)
  b = f32[2]{0} broadcast(c), dimensions={}
  ROOT r = f32[2]{0} add(a, b)
}
halve {
  h = f32[2]{0} parameter(0)
  hc = f32[] constant(0.5)
  hb = f32[2]{0} broadcast(hc), dimensions={}
  ROOT half = f32[2]{0} multiply(h, hb)
}
twice {
  t = f32[2]{0} parameter(0)
  ROOT double = f32[2]{0} add(t, t)
}
inner_body {
  s = (s32[], f32[2]{0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[2]{0} get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  zero = s32[] constant(0)
  first = pred[] compare(i, zero), direction=EQ
  y = f32[2]{0} conditional(first, x, x), true_computation=twice, false_computation=halve
  z = f32[2]{0} call(y), to_apply=plus_one
  ROOT t2 = (s32[], f32[2]{0}) tuple(next, z)
}
inner_condition {
  s = (s32[], f32[2]{0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  two = s32[] constant(2)
  ROOT go = pred[] compare(i, two), direction=LT
}
outer_body {
  s = (s32[], f32[2]{0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[2]{0} get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  zero = s32[] constant(0)
  start = (s32[], f32[2]{0}) tuple(zero, x)
  inner = (s32[], f32[2]{0}) while(start), condition=inner_condition, body=inner_body
  z = f32[2]{0} get-tuple-element(inner), index=1
  ROOT t2 = (s32[], f32[2]{0}) tuple(next, z)
}
outer_condition {
  s = (s32[], f32[2]{0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  three = s32[] constant(3)
  ROOT go = pred[] compare(i, three), direction=LT
}
ENTRY main {
  p = f32[2]{0} parameter(0)
  q = f32[2]{0} call(p), to_apply=plus_one
  r = f32[2]{0} call(q), to_apply=plus_one
  zero = s32[] constant(0)
  start = (s32[], f32[2]{0}) tuple(zero, r)
  ROOT outer = (s32[], f32[2]{0}) while(start), condition=outer_condition, body=outer_body
}
)";

class CaptureModuleTest : public testing::Test {
 protected:
  void SetUp() override {
    module_ = *ReadModule(kProgram);
    flat_ = *Flatten(*module_);
    input_ = Literal(Shape::Array(ElementType::kF32, {2}));
    input_.SetDouble(0, 0);
    input_.SetDouble(1, 8);
  }

  // Every array of the program but constants, parameters and loops' states.
  std::vector<CapturePoint> AllPoints() const {
    std::vector<CapturePoint> points;
    for (const Computation* unit : CapturableUnits(*flat_.module)) {
      for (const Instruction* instruction : *unit) {
        const Opcode opcode = instruction->opcode();
        if (opcode == Opcode::kAdd || opcode == Opcode::kMultiply)
          points.push_back({instruction, 0});
        if (opcode == Opcode::kWhile) points.push_back({instruction, 1});
      }
    }
    return points;
  }

  std::vector<Capture> Run(const std::vector<CapturePoint>& points, TripRoom& room) {
    absl::StatusOr<CaptureModule> made = MakeCaptureModule(flat_, points, room);
    EXPECT_TRUE(made.ok()) << made.status();
    const Literal outputs = *oracle_->Evaluate(*made->module, {&input_}, Limits{});
    const Literal plain = *oracle_->Evaluate(*module_, {&input_}, Limits{});
    const std::vector<const Literal*> leaves = Leaves(outputs), results = Leaves(plain);
    EXPECT_EQ(made->results, 2);
    for (size_t k = 0; k < results.size(); ++k) EXPECT_TRUE(leaves[k]->BitwiseEqual(*results[k]));
    return *ReadCaptures(*made, leaves, room);
  }

  TripRoom Room(int64_t trips) const {
    TripRoom room;
    for (const Computation* unit : CapturableUnits(*flat_.module))
      for (const Instruction* instruction : *unit)
        if (instruction->opcode() == Opcode::kWhile) room[instruction] = trips;
    return room;
  }

  std::unique_ptr<Oracle> oracle_ = MakeOracle();
  std::unique_ptr<Module> module_;
  FlatModule flat_;
  Literal input_;
};

TEST_F(CaptureModuleTest, LoopsStackTheirTrips) {
  TripRoom room = Room(5);
  const std::vector<Capture> captures = Run(AllPoints(), room);
  bool saw_inner = false, saw_outer = false, saw_branch = false;
  for (const Capture& capture : captures) {
    const std::string& name = flat_.origin.at(capture.instruction)->name();
    if (name == "inner" && capture.leaf == 1) {
      saw_inner = true;
      // 2 -> 4 + 1 = 5 -> 2.5 + 1 = 3.5 -> 8 -> 5 -> 11 -> 6.5
      EXPECT_EQ(capture.values.shape().ToString(), "f32[3,2,2]");
      EXPECT_EQ(capture.values.GetDouble(0), 5);
      EXPECT_EQ(capture.values.GetDouble(2), 3.5);
      EXPECT_EQ(capture.values.GetDouble(4), 8);
      EXPECT_EQ(capture.values.GetDouble(10), 6.5);
    }
    if (name == "outer") {
      saw_outer = true;
      EXPECT_EQ(capture.values.shape().ToString(), "f32[3,2]");
      EXPECT_EQ(capture.values.GetDouble(4), 6.5);
    }
    if (capture.leaf == Capture::kBranchTaken) {
      saw_branch = true;
      EXPECT_EQ(capture.values.ToString(), "{ { 0, 1 }, { 0, 1 }, { 0, 1 } }");
    }
  }
  EXPECT_TRUE(saw_inner);
  EXPECT_TRUE(saw_outer);
  EXPECT_TRUE(saw_branch);
}

// A loop inside gives what its body and the branches there make, unless its state was captured.
TEST_F(CaptureModuleTest, StretchesGoThroughLoopsAndBranches) {
  std::vector<const Instruction*> loops;
  for (const Computation* unit : CapturableUnits(*flat_.module))
    for (const Instruction* instruction : *unit)
      if (instruction->opcode() == Opcode::kWhile) loops.push_back(instruction);
  ASSERT_EQ(loops.size(), 2u);
  auto has = [](const std::vector<const Instruction*>& stretch, Opcode opcode) {
    return std::any_of(stretch.begin(), stretch.end(),
                       [&](const Instruction* each) { return each->opcode() == opcode; });
  };
  const CapturePoint outer{loops[0], 1}, inner{loops[1], 1};
  const std::vector<const Instruction*> whole = StretchOf(outer, {outer});
  EXPECT_TRUE(has(whole, Opcode::kWhile));
  EXPECT_TRUE(has(whole, Opcode::kConditional));
  EXPECT_TRUE(has(whole, Opcode::kMultiply));
  EXPECT_FALSE(has(StretchOf(outer, {outer, inner}), Opcode::kMultiply));
  EXPECT_TRUE(has(StretchOf(inner, {outer, inner}), Opcode::kMultiply));
}

TEST_F(CaptureModuleTest, LoopsSayHowMuchRoomTheyNeed) {
  TripRoom room = Room(1);
  EXPECT_TRUE(Run(AllPoints(), room).empty());
  for (const auto& [loop, trips] : room)
    EXPECT_EQ(trips, flat_.origin.at(loop)->name() == "outer" ? 3 : 2);
  EXPECT_FALSE(Run(AllPoints(), room).empty());
}

TEST_F(CaptureModuleTest, OracleGoesOnFromWhatWasSeen) {
  TripRoom room = Room(3);
  Captures captures;
  captures.values = Run(AllPoints(), room);
  int64_t seen = 0, failed = 0;
  captures.visit = [&](const CaptureVisit& visit) {
    Expectation expectation;
    expectation.leaves.push_back(visit.expected);
    ++seen;
    failed += JudgeLeaves(expectation, absl::MakeConstSpan(&visit.seen, 1)).failed;
  };
  absl::StatusOr<Expectation> expectation =
      oracle_->ExpectFrom(*flat_.module, {&input_}, captures, Profile::Xla(), Limits{});
  ASSERT_TRUE(expectation.ok()) << expectation.status();
  EXPECT_EQ(failed, 0);
  // Two calls; of six inner trips a branch, an addition, a counter and a state; of three outer ones
  // a counter and a state.
  EXPECT_EQ(seen, 2 + 6 * 4 + 3 * 2);
  // Another state after the second outer trip: what comes of it is what is right from there.
  for (Capture& capture : captures.values) {
    if (flat_.origin.at(capture.instruction)->name() == "outer") capture.values.SetDouble(2, 100);
  }
  captures.values.erase(std::remove_if(captures.values.begin(), captures.values.end(),
                                       [&](const Capture& capture) {
                                         return flat_.origin.at(capture.instruction)->name() !=
                                                "outer";
                                       }),
                        captures.values.end());
  failed = 0;
  expectation = oracle_->ExpectFrom(*flat_.module, {&input_}, captures, Profile::Xla(), Limits{});
  ASSERT_TRUE(expectation.ok()) << expectation.status();
  // It is wrong itself, and so is the state that was captured after it.
  EXPECT_EQ(failed, 2);
}

TEST_F(CaptureModuleTest, StacksThatDoNotFitAreRejected) {
  TripRoom room = Room(3);
  Captures captures;
  captures.values = Run(AllPoints(), room);
  captures.values[0].values = Literal(Shape::Array(ElementType::kF32, {3}));
  absl::StatusOr<Expectation> expectation =
      oracle_->ExpectFrom(*flat_.module, {&input_}, captures, Profile::Xla(), Limits{});
  EXPECT_EQ(ClassOf(expectation.status()), ErrorClass::kRejected);
}

// Layers are alike: an exponential of one shape stands for those of the others, of no other shape.
TEST(PointsAlike, AreOfTheSameOpAndShape) {
  const auto module = ReadModule(R"(HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  q = f32[2] parameter(1)
  a = f32[4] exponential(p)
  b = f32[4] negate(a)
  c = f32[4] exponential(b)
  d = f32[2] exponential(q)
  ROOT t = (f32[4], f32[2]) tuple(c, d)
}
)");
  ASSERT_TRUE(module.ok()) << module.status();
  std::vector<std::string> names;
  for (const CapturePoint& point : AllPoints(**module)) {
    if (point.instruction->name() != "a") continue;
    for (const CapturePoint& alike : PointsAlike(**module, {point}))
      names.push_back(alike.instruction->name());
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"a", "c"}));
}

}  // namespace
}  // namespace assay
