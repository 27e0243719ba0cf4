// Tests which outcome each error, death and answer becomes, row by row.
#include "spec/backend/outcome.h"

#include <vector>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace assay {
namespace {

Isolated DeadBy(Isolated::End end) {
  Isolated death;
  death.end = end;
  death.signal = 11;
  return death;
}

TEST(Outcome, AnErrorOfTheBackendIsOfItsClass) {
  struct Row {
    ErrorClass error;
    Outcome::Kind kind;
    const char* status;
  };
  for (const Row& row : {Row{ErrorClass::kRejected, Outcome::kRejected, "failed"},
                         Row{ErrorClass::kUnsupported, Outcome::kUnsupported, "unsupported"},
                         Row{ErrorClass::kCompileCrash, Outcome::kCompileCrash, "crashed"},
                         Row{ErrorClass::kRunCrash, Outcome::kRunCrash, "crashed"},
                         Row{ErrorClass::kTimeout, Outcome::kTimeout, "timed out"},
                         Row{ErrorClass::kOutOfMemory, Outcome::kOutOfMemory, "crashed"},
                         Row{ErrorClass::kSickMachine, Outcome::kSickMachine, "crashed"}}) {
    const Outcome outcome = OutcomeOf(MakeError(row.error, "why"), Phase::kCompile);
    EXPECT_EQ(Name(outcome.kind), Name(row.kind));
    EXPECT_EQ(StatusWord(outcome.kind), row.status);
    EXPECT_EQ(outcome.reason, "why");
    EXPECT_EQ(outcome.IsFailure(),
              row.kind != Outcome::kUnsupported && row.kind != Outcome::kSickMachine);
  }
}

TEST(Outcome, TheOraclesLimitsLeaveTheVerdictOpen) {
  struct Row {
    ErrorClass error;
    Outcome::Kind kind;
    const char* state;
  };
  for (const Row& row : {Row{ErrorClass::kTimeout, Outcome::kInconclusive, "inconclusive"},
                         Row{ErrorClass::kOutOfMemory, Outcome::kInconclusive, "inconclusive"},
                         Row{ErrorClass::kUnsupported, Outcome::kUnsupported, "unsupported"},
                         Row{ErrorClass::kRejected, Outcome::kRejected, "harness"},
                         Row{ErrorClass::kCompileCrash, Outcome::kOurFault, "harness"}}) {
    const Outcome outcome = OutcomeOfOracle(MakeError(row.error, "why"));
    EXPECT_EQ(Name(outcome.kind), Name(row.kind));
    EXPECT_EQ(StateWord(outcome), row.state);
    EXPECT_FALSE(outcome.IsFailure()) << "no verdict about the backend";
  }
  EXPECT_EQ(OutcomeOfOracle(MakeError(ErrorClass::kTimeout, "out of steps")).Describe(),
            "oracle: timeout: out of steps");
}

TEST(Outcome, ADeathIsTheBackendsOnlyWhileItWorks) {
  struct Row {
    Isolated::End end;
    Phase phase;
    Outcome::Kind kind;
  };
  for (const Row& row : {Row{Isolated::End::kSignalled, Phase::kCompile, Outcome::kCompileCrash},
                         Row{Isolated::End::kExited, Phase::kRun, Outcome::kRunCrash},
                         Row{Isolated::End::kTimeout, Phase::kRun, Outcome::kTimeout},
                         Row{Isolated::End::kOutOfMemory, Phase::kCompile, Outcome::kOutOfMemory},
                         Row{Isolated::End::kSignalled, Phase::kOracle, Outcome::kOurFault},
                         Row{Isolated::End::kTimeout, Phase::kOracle, Outcome::kInconclusive},
                         Row{Isolated::End::kOutOfMemory, Phase::kJudge, Outcome::kInconclusive},
                         Row{Isolated::End::kReturned, Phase::kRun, Outcome::kOurFault},
                         Row{Isolated::End::kSickMachine, Phase::kIdle, Outcome::kSickMachine}}) {
    const Outcome outcome = OutcomeOfDeath(DeadBy(row.end), row.phase);
    EXPECT_EQ(Name(outcome.kind), Name(row.kind)) << Name(row.phase);
    EXPECT_TRUE(outcome.died);
  }
  EXPECT_EQ(OutcomeOfDeath(DeadBy(Isolated::End::kSignalled), Phase::kCompile).Describe(),
            "while compiling: died of SIGSEGV");
}

// One array of f32 with one answer per element.
Expectation Exactly(const std::vector<float>& values) {
  ArrayExpectation leaf;
  leaf.plain = Literal(Shape::Array(ElementType::kF32, {static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i)
    leaf.plain.SetDouble(static_cast<int64_t>(i), values[i]);
  Expectation expectation;
  expectation.leaves.push_back(std::move(leaf));
  return expectation;
}

TEST(Outcome, AnAnswerIsJudged) {
  struct Row {
    std::vector<float> right, got;
    Outcome::Kind kind;
  };
  for (const Row& row : std::vector<Row>{{{1, 2}, {1, 2}, Outcome::kPassed},
                                         {{1, 2}, {1, 3}, Outcome::kWrong},
                                         {{0, 0}, {0, 0}, Outcome::kMistrusted},
                                         {{}, {}, Outcome::kNothingToJudge}}) {
    const Outcome outcome = OutcomeOfAnswer(Exactly(row.right), Exactly(row.got).leaves[0].plain);
    EXPECT_EQ(Name(outcome.kind), Name(row.kind));
    EXPECT_EQ(outcome.judgement.elements, static_cast<int64_t>(row.right.size()));
    EXPECT_EQ(outcome.reason.empty(), outcome.IsPass());
  }
  Expectation open = Exactly({1, 2});
  open.inconclusive = "an undecided condition";
  const Outcome outcome = OutcomeOfAnswer(open, open.leaves[0].plain);
  EXPECT_EQ(Name(outcome.kind), Name(Outcome::kInconclusive));
  EXPECT_EQ(outcome.reason, "an undecided condition");
}

TEST(Outcome, EveryKindHasAStatusAndGoesThroughJson) {
  for (int i = 0; i < kOutcomeKindCount; ++i) {
    const auto kind = static_cast<Outcome::Kind>(i);
    EXPECT_EQ(OutcomeKindFromName(Name(kind)), kind);
    bool is_listed = false;
    for (std::string_view word : StatusWords()) is_listed |= word == StatusWord(kind);
    EXPECT_TRUE(is_listed) << Name(kind);
    Outcome outcome = MakeOutcome(kind, Phase::kRun, "line\nline");
    outcome.error = ErrorClass::kTimeout;
    outcome.died = true;
    outcome.judgement.elements = 7;
    outcome.judgement.verdict = Verdict::kFail;
    const Outcome back = OutcomeFromJson(ToJson(outcome));
    EXPECT_EQ(back.kind, kind);
    EXPECT_EQ(back.phase, Phase::kRun);
    EXPECT_EQ(back.Describe(), outcome.Describe());
    EXPECT_EQ(back.judgement.elements, 7);
    EXPECT_EQ(back.judgement.verdict, Verdict::kFail);
  }
  EXPECT_EQ(OutcomeFromJson(nlohmann::json::object()).kind, Outcome::kNotRun);
}

TEST(Outcome, TheOneThatMattersMoreStandsForAll) {
  const Outcome passed = MakeOutcome(Outcome::kPassed, Phase::kJudge);
  const Outcome open = MakeOutcome(Outcome::kInconclusive, Phase::kJudge);
  const Outcome wrong = MakeOutcome(Outcome::kWrong, Phase::kJudge);
  EXPECT_EQ(&Worse(passed, open), &open);
  EXPECT_EQ(&Worse(wrong, open), &wrong);
}

}  // namespace
}  // namespace assay
