// Every rule is proved, and no longer is where a claim is forgotten.
#include "optimized/proofs/prove.h"

#include "gtest/gtest.h"
#include "optimized/gates/claim_names.h"
#include "optimized/gates/rule_names.h"

namespace assay {
namespace {

constexpr double kSeconds = 20;

TEST(Term, ReadsWhatStatementsHold) {
  for (const char* wrong : {"a +", "slice(x", "a b", ")", "2 ** 3", "99999999999999"})
    EXPECT_FALSE(ParseTerm(wrong).ok()) << wrong;
  const absl::StatusOr<Term> term = ParseTerm("a + 2 * (k - 1) <= size(pad-of(x))");
  ASSERT_TRUE(term.ok()) << term.status();
  EXPECT_EQ(term->name, "<=");
  EXPECT_EQ(term->operands[0].operands[1].name, "*");
  EXPECT_EQ(term->operands[1].operands[0].name, "pad-of");
}

TEST(Prove, EveryIndexRule) {
  const absl::StatusOr<std::vector<RuleStatement>> statements = ReadStatements();
  ASSERT_TRUE(statements.ok()) << statements.status();
  for (const RuleStatement& statement : *statements) {
    EXPECT_NE(FindRule(statement.rule->rule), nullptr) << statement.Name();
    const Proof proof = Prove(statement, "", kSeconds);
    EXPECT_EQ(proof.outcome, Proof::kProved)
        << statement.Name() << ": " << proof.reason << testing::PrintToString(proof.witness);
  }
}

// The witness is an instance but for what was forgotten, and its sides differ.
TEST(Prove, NoRuleWithoutItsClaims) {
  const absl::StatusOr<std::vector<RuleStatement>> statements = ReadStatements();
  ASSERT_TRUE(statements.ok()) << statements.status();
  int claims = 0;
  for (const RuleStatement& statement : *statements) {
    for (const StatementClaim& claim : statement.claims) {
      EXPECT_TRUE(FindClaim(claim.name).has_value()) << claim.name;
      const Proof proof = Prove(statement, claim.name, kSeconds);
      EXPECT_EQ(proof.outcome, claim.follows ? Proof::kProved : Proof::kRefuted)
          << claim.name << ": " << proof.reason;
      ++claims;
      if (proof.outcome != Proof::kRefuted) continue;
      EXPECT_TRUE(IsInstance(statement, proof.witness, claim.name, 1000))
          << claim.name << testing::PrintToString(proof.witness);
      EXPECT_NE(ElementsOf(statement, statement.before, proof.witness, claim.name),
                ElementsOf(statement, statement.after, proof.witness, claim.name))
          << claim.name << testing::PrintToString(proof.witness);
    }
  }
  EXPECT_GE(claims, 18);
}

}  // namespace
}  // namespace assay
