// The statements that are proved of index rules are what the code does: on drawn instances of each
// the simplifier applies the rule, and makes what the statement says; if a claim does not hold it
// leaves the instance alone.
#include <gtest/gtest.h>

#include <random>

#include "optimized/defects/defect.h"
#include "optimized/defects/plant.h"
#include "optimized/gates/gates.h"
#include "optimized/pipeline/pipeline.h"
#include "optimized/proofs/prove.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr int kInstances = 1000, kDraws = 2'000'000;
constexpr int64_t kMost = 24;  // elements

class Instances {
 public:
  Instances(const RuleStatement& statement, std::string_view forgotten)
      : statement_(statement), forgotten_(forgotten), random_(7) {}

  // The next one; nothing where draws do not find one.
  std::optional<Assignment> Next() {
    for (; draws_ < kDraws; ++draws_) {
      Assignment values;
      const int64_t most = 1 + static_cast<int64_t>(random_() % 12);
      for (const std::string& number : statement_.numbers)
        values[number] = static_cast<int64_t>(random_() % static_cast<uint64_t>(most + 4)) - 3;
      // Equal ones are rare otherwise.
      for (size_t i = 1; i < statement_.numbers.size(); ++i)
        if (random_() % 4 == 0)
          values[statement_.numbers[i]] = values[statement_.numbers[random_() % i]];
      if (IsInstance(statement_, values, forgotten_, kMost)) return values;
    }
    return std::nullopt;
  }

 private:
  const RuleStatement& statement_;
  std::string_view forgotten_;
  std::mt19937_64 random_;
  int draws_ = 0;
};

struct Applied {
  bool is_applied = false;
  std::vector<int64_t> elements;
};

Applied Simplified(const HloInstance& instance,
                   std::shared_ptr<const GateDefect> defect = nullptr) {
  std::unique_ptr<Module> module = instance.module->Clone("");
  Applied applied;
  Gates gates(-1, std::move(defect));
  PipelineOptions options;
  options.passes = {"algebraic-simplifier"};
  options.verify_each = true;
  EXPECT_EQ(Optimize(*module, gates, options), absl::OkStatus());
  std::vector<DeviceInputs> inputs(1);
  for (const Literal& argument : instance.arguments) inputs[0].arguments.push_back(&argument);
  const auto results = MakeOracle()->EvaluateDevices(*module, {}, inputs, {});
  EXPECT_TRUE(results.ok()) << results.status() << module->ToString();
  if (!results.ok()) return applied;
  const Literal& result = (*results)[0].result;
  for (int64_t i = 0; i < result.element_count(); ++i)
    applied.elements.push_back(result.GetInteger(i));
  for (const Decision& decision : gates.decisions()) applied.is_applied |= decision.taken;
  return applied;
}

bool Applies(const HloInstance& instance, std::string_view rule) {
  std::unique_ptr<Module> module = instance.module->Clone("");
  Gates gates;
  PipelineOptions options;
  options.passes = {"algebraic-simplifier"};
  EXPECT_EQ(Optimize(*module, gates, options), absl::OkStatus());
  for (const Decision& decision : gates.decisions())
    if (decision.rule == rule) return true;
  return false;
}

TEST(IndexRules, StatementsAreWhatTheCodeDoes) {
  const absl::StatusOr<std::vector<RuleStatement>> statements = ReadStatements();
  ASSERT_TRUE(statements.ok()) << statements.status();
  for (const RuleStatement& statement : *statements) {
    SCOPED_TRACE(statement.Name());
    Instances instances(statement, "");
    int count = 0, applied = 0;
    while (count < kInstances) {
      const std::optional<Assignment> values = instances.Next();
      if (!values.has_value()) break;
      ++count;
      SCOPED_TRACE(testing::PrintToString(*values));
      const absl::StatusOr<HloInstance> instance = BeforeAsHlo(statement, *values, "");
      ASSERT_TRUE(instance.ok()) << instance.status();
      ASSERT_EQ(Simplified(*instance).elements,
                ElementsOf(statement, statement.after, *values, ""));
      applied += Applies(*instance, statement.rule->rule) ? 1 : 0;
    }
    std::printf("%-50s %d of %d instances\n", statement.Name().c_str(), applied, count);
    EXPECT_GE(count, kInstances / 5);
    // Another rule takes care of some instances first.
    EXPECT_GE(10 * applied, count);
  }
}

TEST(IndexRules, ClaimsAreWhatTheCodeAsks) {
  const absl::StatusOr<std::vector<RuleStatement>> statements = ReadStatements();
  ASSERT_TRUE(statements.ok()) << statements.status();
  for (const RuleStatement& statement : *statements) {
    for (const StatementClaim& claim : statement.claims) {
      SCOPED_TRACE(claim.name);
      Instances instances(statement, claim.name);
      int count = 0;
      while (count < kInstances / 5) {
        const std::optional<Assignment> values = instances.Next();
        if (!values.has_value()) break;
        if (!claim.IsOfArrays() && IsInstance(statement, *values, "", kMost)) continue;
        ++count;
        const absl::StatusOr<HloInstance> instance = BeforeAsHlo(statement, *values, claim.name);
        ASSERT_TRUE(instance.ok()) << instance.status();
        EXPECT_FALSE(Applies(*instance, statement.rule->rule))
            << testing::PrintToString(*values) << instance->module->ToString();
      }
      EXPECT_TRUE(claim.follows || count > 0);
    }
  }
}

// True if the compiler, when it forgets the claim, makes something else of the witness than it
// means.
bool IsConvicted(const RuleStatement& statement, const StatementClaim& claim,
                 const Assignment& witness) {
  const absl::StatusOr<HloInstance> instance = BeforeAsHlo(statement, witness, claim.name);
  EXPECT_TRUE(instance.ok()) << instance.status();
  const absl::StatusOr<Defect> defect = ParseDefect(StrCat(
      R"({"name": "d", "gate": ")", claim.name, R"(", "kind": "rewrite", "op": "claim-true"})"));
  EXPECT_TRUE(defect.ok()) << defect.status();
  return instance.ok() && defect.ok() &&
         Simplified(*instance, Plant(*defect)).elements !=
             ElementsOf(statement, statement.before, witness, claim.name);
}

// If the compiler forgets a claim, what the solver finds without it is wrong; another rule takes
// care of some witnesses first.
TEST(IndexRules, WitnessesConvictTheCodeThatForgets) {
  constexpr size_t kMostWitnesses = 100;
  const absl::StatusOr<std::vector<RuleStatement>> statements = ReadStatements();
  ASSERT_TRUE(statements.ok()) << statements.status();
  int convicted = 0;
  for (const RuleStatement& statement : *statements) {
    for (const StatementClaim& claim : statement.claims) {
      if (claim.follows) continue;
      SCOPED_TRACE(claim.name);
      std::vector<Assignment> seen;
      bool is_convicted = false;
      while (!is_convicted && seen.size() < kMostWitnesses) {
        const Proof proof = Prove(statement, claim.name, /*seconds=*/20, seen);
        if (proof.outcome != Proof::kRefuted) break;
        is_convicted = IsConvicted(statement, claim, proof.witness);
        seen.push_back(proof.witness);
      }
      EXPECT_TRUE(is_convicted) << seen.size() << " witnesses";
      std::printf("%-50s convicted by witness %zu\n", claim.name.c_str(), seen.size());
      convicted += is_convicted ? 1 : 0;
    }
  }
  EXPECT_GE(convicted, 17);
}

}  // namespace
}  // namespace assay
