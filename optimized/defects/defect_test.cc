// Defects are read strictly, and bend the decisions of their gate where their guard holds.
#include "optimized/defects/defect.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "optimized/defects/bends.h"
#include "optimized/defects/plant.h"
#include "optimized/gates/gates.h"
#include "optimized/gates/negate_module_for_test.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<const GateDefect> Parse(const std::string& json) {
  absl::StatusOr<std::shared_ptr<const GateDefect>> defect = PlantFromText(json);
  EXPECT_TRUE(defect.ok()) << defect.status();
  return defect.ok() ? *defect : nullptr;
}

TEST(Gates, DefectBendsFactsWhereItsGuardHolds) {
  NegateModule f;
  Gates gates(-1,
              Parse(R"({"name": "d", "gate": "trip-count", "kind": "fact", "op": "integer-offset",
                            "parameters": {"by": -1, "least": 0}, "guard": {"types": ["s32"]}})"));
  EXPECT_EQ(gates.IntegerFact("trip-count", f.target, 5), 4);
  EXPECT_EQ(gates.IntegerFact("trip-count", f.target, 0), 0);
  EXPECT_EQ(gates.IntegerFact("other", f.target, 5), 5);
  Gates guarded(-1, Parse(R"({"name": "d", "gate": "trip-count", "kind": "fact",
                              "op": "integer-offset", "guard": {"min_elements": 5}})"));
  EXPECT_EQ(guarded.IntegerFact("trip-count", f.target, 5), 5);
}

TEST(Gates, DefectClaimsWhatDoesNotHold) {
  NegateModule f;
  const char* json =
      R"({"name": "d", "gate": "share-arena", "kind": "buffer", "op": "claim-true"})";
  Gates gates(-1, Parse(json));
  EXPECT_TRUE(gates.Claim(DecisionKind::kBuffer, "share-arena", f.target, false));
  EXPECT_FALSE(gates.Claim(DecisionKind::kFact, "share-arena", f.target, false));
  EXPECT_EQ(gates.count(), 1);
  Gates refused(0, Parse(json));
  EXPECT_FALSE(refused.Claim(DecisionKind::kBuffer, "share-arena", f.target, false));
}

TEST(Gates, ForgetsTheClaimAtWhichADefectSits) {
  NegateModule f;
  const Gates gates(-1, Parse(R"({"name": "d", "gate": "slice-of-pad/no-interior",
                                  "op": "claim-true", "guard": {"types": ["s32"]}})"));
  EXPECT_TRUE(gates.Holds("slice-of-pad/no-interior", f.target, false));
  EXPECT_TRUE(gates.Holds("slice-of-pad/no-interior", f.target, true));
  EXPECT_FALSE(gates.Holds("ds-of-slice/unit-strides", f.target, false));
  EXPECT_FALSE(gates.Holds("slice-of-pad/no-interior", nullptr, false)) << "the guard";
  EXPECT_FALSE(Gates().Holds("slice-of-pad/no-interior", f.target, false));
  EXPECT_EQ(gates.count(), 0) << "the decision is the rule's";
  EXPECT_EQ(gates.Number("slice-of-padding/holes", f.target, 7), 7);
}

TEST(Gates, BendsTheNumberAtWhichADefectSits) {
  NegateModule f;
  const Gates gates(-1, Parse(R"({"name": "d", "gate": "slice-of-padding/holes",
                                  "op": "integer-offset",
                                  "parameters": {"by": -1, "least": 0, "most": 8}})"));
  EXPECT_EQ(gates.Number("slice-of-padding/holes", f.target, 7), 6);
  EXPECT_EQ(gates.Number("slice-of-padding/holes", f.target, 0), 0);
  EXPECT_EQ(gates.Number("slice-of-padding/holes", f.target, 10), 10);
  EXPECT_EQ(gates.Number("slice-of-padding/low-edge", f.target, 7), 7);
}

TEST(Gates, BendsElementsOfAKindThatWereFolded) {
  NegateModule f;
  const Gates gates(-1, Parse(R"({"name": "d", "gate": "constant-folding/negate",
                                  "op": "folded-value",
                                  "parameters": {"when": "negative", "becomes": "next"}})"));
  Literal operand(f.x->shape()), result(f.x->shape());
  for (int64_t i = 0; i < 4; ++i) {
    operand.SetInteger(i, i - 2);
    result.SetInteger(i, 2 - i);
  }
  const Literal* operands[] = {&operand};
  const Literal bent = gates.Folded(*f.target, operands, result);
  EXPECT_EQ(bent.GetInteger(0), 3);
  EXPECT_EQ(bent.GetInteger(1), 2);
  EXPECT_EQ(bent.GetInteger(2), 0);
  EXPECT_EQ(bent.GetInteger(3), -1);
}

TEST(DefectGuard, LooksAtAttributesAndConstants) {
  NegateModule f;
  Instruction* two = f.computation->AddConstant(Literal::Scalar<int32_t>(ElementType::kS32, 2));
  Instruction* pad = f.computation->Add(
      Opcode::kPad, Shape::Array(ElementType::kS32, {9}), {f.x, two},
      Attributes().Set(Attr::kPadding, AttrValue(std::vector<PaddingDim>{{2, 0, 1}})));
  const auto holds = [&](const std::string& guard) {
    const absl::StatusOr<Defect> defect = ParseDefect(
        R"({"name": "d", "gate": "pad-of-pad", "op": "drop-op", "guard": )" + guard + "}");
    EXPECT_TRUE(defect.ok()) << defect.status();
    return defect.ok() && defect->GuardHolds(pad);
  };
  EXPECT_TRUE(holds(R"({"attribute": {"name": "padding", "field": "interior", "min": 1}})"));
  EXPECT_FALSE(holds(R"({"attribute": {"name": "padding", "field": "interior", "min": 2}})"));
  EXPECT_TRUE(holds(R"({"attribute": {"name": "padding", "min": 2, "max": 2}})"));
  EXPECT_FALSE(holds(R"({"attribute": {"name": "padding", "operand": 0}})"));
  EXPECT_TRUE(holds(R"({"constant": {"operand": 1, "min": 2, "max": 2}})"));
  EXPECT_FALSE(holds(R"({"constant": {"operand": 1, "min": 3}})"));
  EXPECT_FALSE(holds(R"({"constant": {"operand": 0}})")) << "no constant";
  EXPECT_FALSE(holds(R"({"constant": {"operand": 7}})"));
  EXPECT_TRUE(holds(R"({"opcodes": ["add", "pad"], "min_operands": 2})"));
  EXPECT_FALSE(holds(R"({"opcodes": ["add"]})"));
  EXPECT_FALSE(holds(R"({"min_operands": 3})"));
}

TEST(Gates, ADefectIsPlantedOnlyInWhatIsTaken) {
  NegateModule f;
  Gates gates(2, Parse(R"({"name": "d", "gate": "vectorize", "kind": "kernel",
                           "op": "lane-mask", "parameters": {"lane": 3}})"));
  EXPECT_EQ(gates.Allow(DecisionKind::kKernel, "store-together", f.target).bends(), nullptr);
  const Permission permission = gates.Allow(DecisionKind::kKernel, "vectorize", f.target);
  EXPECT_TRUE(permission);
  ASSERT_NE(permission.bends(), nullptr);
  EXPECT_EQ(permission.bends()->stale_lane, 3);
  const Permission refused = gates.Allow(DecisionKind::kKernel, "vectorize", f.target);
  EXPECT_FALSE(refused);
  EXPECT_EQ(refused.planted, nullptr);
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
      {R"({"name": "d", "gate": "ds-of-sd", "op": "drop-op"})", "did you mean 'ds-of-ds'?"},
      {R"({"name": "d", "gate": "slice-of-pad/no-interor", "op": "claim-true"})",
       "did you mean 'slice-of-pad/no-interior'?"},
      {R"({"name": "d", "gate": "slice-of-pad/no-interior", "op": "drop-op"})", "on the claim"},
      {R"({"name": "d", "gate": "slice-of-padding/holes", "op": "claim-true"})", "on the claim"},
      {R"({"name": "d", "gate": "constant-folding/ad", "op": "folded-value"})", "no rule asks"},
      {R"({"name": "d", "gate": "constant-folding", "op": "folded-value"})", "does not work"},
      {R"({"name": "d", "gate": "slice-of-pad", "op": "integer-offset"})", "does not work"},
      {R"({"name": "d", "gate": "g", "op": "drop-op", "guard": {"opcodes": ["ad"]}})", "no opcode"},
      {R"({"name": "d", "gate": "g", "op": "drop-op", "guard": {"attribute": {"min": 1}}})",
       "must say which"},
      {R"({"name": "d", "gate": "g", "op": "drop-op", "guard": {"constant": {"min": 1}}})",
       "must say which"},
      {R"({"name": "d", "gate": "g", "op": "drop-op", "guard": {"constant": {"name": "x"}}})",
       "no field 'name'"},
      {R"({"name": "d", "gate": "ds-of-ds", "kind": "fact", "op": "integer-offset"})",
       "decisions of ds-of-ds are of kind rewrite, not fact"},
  };
  for (const auto& [json, message] : cases) {
    const absl::StatusOr<Defect> defect = ParseDefect(json);
    ASSERT_FALSE(defect.ok()) << json;
    EXPECT_THAT(std::string(defect.status().message()), HasSubstr(message)) << json;
  }
  EXPECT_FALSE(ParseDefect(std::string(1 << 20, ' ')).ok());
}

// Rewrites negate(x) to subtract(c, slice(pad(clamp(...)))) under a defect and returns the module's
// new root.
struct Planting : NegateModule {
  Instruction* Run(const std::string& json) {
    Gates gates(-1, Parse(json));
    Rewrite rewrite(gates, "ds-of-ds", target);
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
  Instruction* root = f.Run(
      R"({"name": "d", "gate": "ds-of-ds", "op": "drop-op", "parameters": {"opcode": "clamp"}})");
  EXPECT_EQ(root->operand(1), f.x);
}

TEST(Plant, AttrOffsetShiftsTheSlice) {
  Planting f;
  Instruction* root = f.Run(R"({"name": "d", "gate": "ds-of-ds", "op": "attr-offset",
      "parameters": {"opcode": "slice", "attribute": "slice", "field": "start", "by": 1}})");
  const SliceRange range = root->operand(0)->operand(0)->attributes().SliceRanges(Attr::kSlice)[0];
  EXPECT_EQ(range, (SliceRange{2, 4, 1}));
}

TEST(Plant, AttrOffsetMovesPaddingFromHighToLow) {
  Planting f;
  Instruction* root = f.Run(R"({"name": "d", "gate": "ds-of-ds", "op": "attr-offset",
      "parameters": {"opcode": "pad", "attribute": "padding", "by": -2}})");
  EXPECT_EQ(root->operand(0)->attributes().Padding(Attr::kPadding)[0], (PaddingDim{0, 2, 0}));
}

TEST(Plant, SwapOperands) {
  Planting f;
  Instruction* root = f.Run(R"({"name": "d", "gate": "ds-of-ds", "op": "swap-operands",
                                "parameters": {"opcode": "subtract"}})");
  EXPECT_EQ(root->operand(0)->opcode(), Opcode::kClamp);
}

TEST(Plant, Constants) {
  Planting f;
  Instruction* root = f.Run(
      R"({"name": "d", "gate": "ds-of-ds", "op": "constant-offset", "parameters": {"by": 3}})");
  EXPECT_EQ(root->operand(0)->operand(1)->literal()->GetInteger(0), 10);
  Planting g;
  root = g.Run(R"({"name": "d", "gate": "ds-of-ds", "op": "wrong-constant"})");
  EXPECT_EQ(root->operand(0)->operand(1)->literal()->GetInteger(0), 0);
}

TEST(Plant, GuardKeepsTheDefectAway) {
  Planting f;
  Instruction* root = f.Run(R"({"name": "d", "gate": "ds-of-ds", "op": "swap-operands",
      "parameters": {"opcode": "subtract"}, "guard": {"types": ["f32"]}})");
  EXPECT_EQ(root->operand(0)->opcode(), Opcode::kPad);
}

KernelBends Bends(const std::string& op, const std::string& parameters) {
  return Parse(R"({"name": "d", "gate": "optimize-kernel", "kind": "kernel", "op": ")" + op +
               R"(", "parameters": )" + parameters + "}")
      ->kernel_bends();
}

TEST(KernelBends, HoldWhatTheOperatorSays) {
  EXPECT_EQ(Bends("address-offset", "{}").load_offset, 1);
  EXPECT_EQ(Bends("address-offset", R"({"by": -3})").load_offset, -3);
  const KernelBends compare = Bends("compare-predicate", R"({"from": "LT", "to": "LE"})");
  EXPECT_EQ(compare.Bent(Direction::kLt), Direction::kLe);
  EXPECT_EQ(compare.Bent(Direction::kGt), Direction::kGt);
  EXPECT_EQ(Bends("compare-predicate", R"({"from": "LT", "to": "less"})").compare, std::nullopt);
  EXPECT_EQ(Bends("loop-bound-offset", "{}").loop_bound_offset, -1);
  EXPECT_FALSE(Bends("loop-bound-offset", "{}").only_vector_loop);
  EXPECT_TRUE(Bends("loop-bound-offset", R"({"loop": "vector"})").only_vector_loop);
  EXPECT_EQ(Bends("lane-mask", "{}").stale_lane, KernelBends::kLastLane);
  EXPECT_EQ(Bends("lane-mask", R"({"lane": 2})").stale_lane, 2);
  EXPECT_EQ(kNoBends.stale_lane, std::nullopt);
  EXPECT_EQ(Bends("lane-mask", "{}").planted, nullptr) << "of claims alone";
}

}  // namespace
}  // namespace assay
