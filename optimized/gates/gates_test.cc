// Decisions are numbered, refused above the limit, and told by rule.
#include "optimized/gates/gates.h"

#include "gtest/gtest.h"
#include "optimized/gates/negate_module_for_test.h"
#include "optimized/gates/rule_names.h"

namespace assay {
namespace {

TEST(Gates, NumbersFromOneAndRefusesAboveTheLimit) {
  NegateModule f;
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
  NegateModule f;
  Gates gates;
  EXPECT_EQ(gates.IntegerFact("trips", f.target, std::nullopt), std::nullopt);
  EXPECT_FALSE(gates.Claim(DecisionKind::kFact, "claim", f.target, false));
  EXPECT_EQ(gates.count(), 0);
}

TEST(Rewrite, ReplacesAndRemoves) {
  NegateModule f;
  Gates gates;
  Rewrite rewrite(gates, "negate-to-not", f.target);
  ASSERT_TRUE(rewrite);
  Instruction* with = f.computation->Add(Opcode::kNot, f.x->shape(), {f.x});
  EXPECT_TRUE(rewrite.Replace(with));
  EXPECT_EQ(f.computation->root(), with);
  EXPECT_EQ(f.computation->instruction_count(), 2);
}

TEST(RuleNames, AreFoundAndGuessed) {
  EXPECT_EQ(FindRule("ds-of-ds")->kind, DecisionKind::kRewrite);
  EXPECT_EQ(FindRule("trip-count")->kind, DecisionKind::kFact);
  EXPECT_EQ(FindRule("ds-of-sd"), nullptr);
  EXPECT_EQ(NearestRule("vectorise").name, "vectorize");
  EXPECT_EQ(NearestRule("trip_count").name, "trip-count");
}

}  // namespace
}  // namespace assay
