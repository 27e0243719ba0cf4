#include "optimized/gates/gates.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

// A module with one instruction to be rewritten: negate(x).
struct Fixture {
  Fixture() {
    computation = module.AddComputation("main");
    module.set_entry(computation);
    x = computation->AddParameter(0, Shape::Array(ElementType::kS32, {4}));
    target = computation->Add(Opcode::kNegate, x->shape(), {x});
    computation->set_root(target);
  }
  Module module{"m"};
  Computation* computation;
  Instruction *x, *target;
};

Defect Parse(const std::string& json) {
  absl::StatusOr<Defect> defect = ParseDefect(json);
  EXPECT_TRUE(defect.ok()) << defect.status();
  return defect.ok() ? *defect : Defect{};
}

TEST(Gates, NumbersFromOneAndRefusesAboveTheLimit) {
  Fixture f;
  Gates gates(2);
  EXPECT_TRUE(gates.Allow(DecisionKind::kRewrite, "a", f.target));
  EXPECT_EQ(gates.IntegerFact("trips", f.target, 5), 5);
  EXPECT_FALSE(gates.Allow(DecisionKind::kRewrite, "b", f.target));
  EXPECT_EQ(gates.IntegerFact("trips", f.target, 5), std::nullopt);
  EXPECT_FALSE(gates.Claim(DecisionKind::kFact, "claim", f.target, true));
  gates.Require(DecisionKind::kRequired, "copy", f.target);
  ASSERT_EQ(gates.count(), 6);
  EXPECT_EQ(gates.decisions()[0].number, 1);
  EXPECT_EQ(gates.decisions()[0].where, "main/negate");
  EXPECT_FALSE(gates.decisions()[2].taken);
  EXPECT_TRUE(gates.decisions()[5].taken);
  EXPECT_EQ(gates.Counts()["a"], 1);
  EXPECT_EQ(gates.Counts()["b"], 0);
}

TEST(Gates, WhatIsNotKnownTakesNoNumber) {
  Fixture f;
  Gates gates;
  EXPECT_EQ(gates.IntegerFact("trips", f.target, std::nullopt), std::nullopt);
  EXPECT_FALSE(gates.Claim(DecisionKind::kFact, "claim", f.target, false));
  EXPECT_EQ(gates.count(), 0);
}

TEST(Gates, DefectBendsFactsWhereItsGuardHolds) {
  Fixture f;
  Gates gates(-1, Parse(R"({"name": "d", "gate": "trips", "kind": "fact", "op": "integer-offset",
                            "parameters": {"by": -1, "least": 0}, "guard": {"types": ["s32"]}})"));
  EXPECT_EQ(gates.IntegerFact("trips", f.target, 5), 4);
  EXPECT_EQ(gates.IntegerFact("trips", f.target, 0), 0);
  EXPECT_EQ(gates.IntegerFact("other", f.target, 5), 5);
  Gates guarded(-1, Parse(R"({"name": "d", "gate": "trips", "kind": "fact",
                              "op": "integer-offset", "guard": {"min_elements": 5}})"));
  EXPECT_EQ(guarded.IntegerFact("trips", f.target, 5), 5);
}

TEST(Gates, DefectClaimsWhatDoesNotHold) {
  Fixture f;
  const char* json = R"({"name": "d", "gate": "share", "kind": "buffer", "op": "claim-true"})";
  Gates gates(-1, Parse(json));
  EXPECT_TRUE(gates.Claim(DecisionKind::kBuffer, "share", f.target, false));
  EXPECT_FALSE(gates.Claim(DecisionKind::kFact, "share", f.target, false));
  EXPECT_EQ(gates.count(), 1);
  Gates refused(0, Parse(json));
  EXPECT_FALSE(refused.Claim(DecisionKind::kBuffer, "share", f.target, false));
}

TEST(Gates, PlantedOnlyForTheLatestDecisionThatWasTaken) {
  Fixture f;
  Gates gates(1, Parse(R"({"name": "d", "gate": "vectorize", "kind": "kernel",
                           "op": "lane-mask", "parameters": {"lane": 3}})"));
  EXPECT_EQ(gates.Planted(DecisionKind::kKernel, "vectorize", f.target), nullptr);
  gates.Allow(DecisionKind::kKernel, "vectorize", f.target);
  ASSERT_NE(gates.Planted(DecisionKind::kKernel, "vectorize", f.target), nullptr);
  gates.Allow(DecisionKind::kKernel, "vectorize", f.target);  // refused
  EXPECT_EQ(gates.Planted(DecisionKind::kKernel, "vectorize", f.target), nullptr);
}

TEST(ParseDefect, RefusesWhatItDoesNotKnow) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "JSON object"},
      {"[[[[", "JSON object"},
      {R"({"name": "d", "gate": "g", "op": "drop-op", "colour": 1})", "unknown field 'colour'"},
      {R"({"gate": "g", "op": "drop-op"})", "'name' is missing"},
      {R"({"name": "d", "op": "drop-op"})", "'gate' is missing"},
      {R"({"name": "d", "gate": "g", "op": "explode"})", "unknown operator 'explode'"},
      {R"({"name": "d", "gate": "g", "op": "lane-mask"})", "does not work on a gate"},
      {R"({"name": "d", "gate": "g", "op": "drop-op", "parameters": {"by": 1}})", "no parameter"},
      {R"({"name": "d", "gate": "g", "op": "attr-offset", "parameters": {"by": "x"}})", "integer"},
      {R"({"name": "d", "gate": "g", "op": "attr-offset", "parameters": {"dim": -1}})", "negative"},
      {R"({"name": "d", "gate": "g", "op": "drop-op", "guard": {"types": ["s33"]}})", "s33"},
      {R"({"name": "d", "gate": "g", "op": "drop-op", "guard": {"min_rank": 1.5}})", "integer"},
      {R"({"name": "d", "gate": "g", "op": "drop-op", "kind": "guess"})", "no kind"},
  };
  for (const auto& [json, message] : cases) {
    const absl::StatusOr<Defect> defect = ParseDefect(json);
    ASSERT_FALSE(defect.ok()) << json;
    EXPECT_THAT(std::string(defect.status().message()), HasSubstr(message)) << json;
  }
  EXPECT_FALSE(ParseDefect(std::string(1 << 20, ' ')).ok());
}

TEST(Rewrite, ReplacesAndRemoves) {
  Fixture f;
  Gates gates;
  Rewrite rewrite(gates, "negate-to-not", f.target);
  ASSERT_TRUE(rewrite);
  Instruction* with = f.computation->Add(Opcode::kNot, f.x->shape(), {f.x});
  EXPECT_TRUE(rewrite.Replace(with));
  EXPECT_EQ(f.computation->root(), with);
  EXPECT_EQ(f.computation->instruction_count(), 2);
}

// Rewrites negate(x) to subtract(c, slice(pad(clamp(...)))) under a defect and returns the module's
// new root.
struct Planting : Fixture {
  Instruction* Run(const std::string& json) {
    Gates gates(-1, Parse(json));
    Rewrite rewrite(gates, "rule", target);
    Instruction* low = computation->AddConstant(Literal::Scalar<int32_t>(ElementType::kS32, 7));
    Instruction* clamp = computation->Add(Opcode::kClamp, x->shape(), {low, x, low});
    Instruction* slice = computation->Add(
        Opcode::kSlice, Shape::Array(ElementType::kS32, {2}), {clamp},
        Attributes().Set(Attr::kSlice, AttrValue(std::vector<SliceRange>{{1, 3, 1}})));
    Instruction* pad = computation->Add(
        Opcode::kPad, x->shape(), {slice, low},
        Attributes().Set(Attr::kPadding, AttrValue(std::vector<PaddingDim>{{2, 0, 0}})));
    rewrite.Replace(computation->Add(Opcode::kSubtract, x->shape(), {pad, clamp}));
    return computation->root();
  }
};

TEST(Plant, DropOpBypasses) {
  Planting f;
  Instruction* root =
      f.Run(R"({"name": "d", "gate": "rule", "op": "drop-op", "parameters": {"opcode": "clamp"}})");
  EXPECT_EQ(root->operand(1), f.x);
}

TEST(Plant, AttrOffsetShiftsTheSlice) {
  Planting f;
  Instruction* root = f.Run(R"({"name": "d", "gate": "rule", "op": "attr-offset",
      "parameters": {"opcode": "slice", "attribute": "slice", "field": "start", "by": 1}})");
  const SliceRange range = root->operand(0)->operand(0)->attributes().SliceRanges(Attr::kSlice)[0];
  EXPECT_EQ(range, (SliceRange{2, 4, 1}));
}

TEST(Plant, AttrOffsetMovesPaddingFromHighToLow) {
  Planting f;
  Instruction* root = f.Run(R"({"name": "d", "gate": "rule", "op": "attr-offset",
      "parameters": {"opcode": "pad", "attribute": "padding", "by": -2}})");
  EXPECT_EQ(root->operand(0)->attributes().Padding(Attr::kPadding)[0], (PaddingDim{0, 2, 0}));
}

TEST(Plant, SwapOperands) {
  Planting f;
  Instruction* root = f.Run(R"({"name": "d", "gate": "rule", "op": "swap-operands",
                                "parameters": {"opcode": "subtract"}})");
  EXPECT_EQ(root->operand(0)->opcode(), Opcode::kClamp);
}

TEST(Plant, Constants) {
  Planting f;
  Instruction* root =
      f.Run(R"({"name": "d", "gate": "rule", "op": "constant-offset", "parameters": {"by": 3}})");
  EXPECT_EQ(root->operand(0)->operand(1)->literal()->GetInteger(0), 10);
  Planting g;
  root = g.Run(R"({"name": "d", "gate": "rule", "op": "wrong-constant"})");
  EXPECT_EQ(root->operand(0)->operand(1)->literal()->GetInteger(0), 0);
}

TEST(Plant, GuardKeepsTheDefectAway) {
  Planting f;
  Instruction* root = f.Run(R"({"name": "d", "gate": "rule", "op": "swap-operands",
      "parameters": {"opcode": "subtract"}, "guard": {"types": ["f32"]}})");
  EXPECT_EQ(root->operand(0)->opcode(), Opcode::kPad);
}

}  // namespace
}  // namespace assay
