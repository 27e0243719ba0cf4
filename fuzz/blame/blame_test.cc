// The search for the guilty decision, alone and on a compiler with a known culprit.
#include "fuzz/blame/blame.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "fuzz/backends/releases.h"
#include "fuzz/blame/pass_blame.h"
#include "fuzz/triage/signature.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "spec/backend/fake_backend.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

using testing::HasSubstr;

TEST(SearchBlame, FindsTheSmallestFailingLimit) {
  for (int64_t total : {1, 2, 3, 17, 1000}) {
    for (int64_t guilty : {int64_t{1}, total / 2 + 1, total}) {
      int probes = 0;
      BlameSearch search = SearchBlame(total, [&](int64_t limit) {
        ++probes;
        return limit >= guilty ? ProbeAnswer::kFail : ProbeAnswer::kPass;
      });
      EXPECT_EQ(search.guilty, guilty) << total;
      EXPECT_EQ(search.note, "");
      EXPECT_EQ(search.probes, probes);
      EXPECT_LE(probes, 32);
    }
  }
}

TEST(SearchBlame, DoublesWhenTheTotalIsUnknown) {
  BlameSearch search = SearchBlame(
      -1, [](int64_t limit) { return limit >= 37 ? ProbeAnswer::kFail : ProbeAnswer::kPass; });
  EXPECT_EQ(search.guilty, 37);
}

TEST(SearchBlame, StepsAroundUnclearLimits) {
  BlameSearch search = SearchBlame(100, [](int64_t limit) {
    if (limit >= 45 && limit < 53) return ProbeAnswer::kUnclear;
    return limit >= 60 ? ProbeAnswer::kFail : ProbeAnswer::kPass;
  });
  EXPECT_EQ(search.guilty, 60);
}

TEST(SearchBlame, SaysWhenNothingIsToBlame) {
  BlameSearch always = SearchBlame(10, [](int64_t) { return ProbeAnswer::kFail; });
  EXPECT_EQ(always.guilty, 0);
  EXPECT_TRUE(always.fails_without_decisions);
  BlameSearch never = SearchBlame(10, [](int64_t) { return ProbeAnswer::kPass; });
  EXPECT_EQ(never.guilty, 0);
  EXPECT_THAT(never.note, HasSubstr("again"));
}

TEST(SearchBlame, LooksForASmallerFailure) {
  // A later decision hides the bug for a while.
  BlameSearch search = SearchBlame(64, [](int64_t limit) {
    bool fails = (limit >= 5 && limit < 12) || limit >= 60;
    return fails ? ProbeAnswer::kFail : ProbeAnswer::kPass;
  });
  EXPECT_EQ(search.guilty, 5);
  EXPECT_THAT(search.note, HasSubstr("monotone"));
}

// An oracle that expects one forced s32 scalar, 7.
class SevenOracle : public Oracle {
 public:
  absl::StatusOr<Literal> Evaluate(const Module&, const std::vector<const Literal*>&,
                                   const Limits&) override {
    return Literal::Scalar<int32_t>(ElementType::kS32, 7);
  }
  absl::StatusOr<Expectation> Expect(const Module&, const std::vector<const Literal*>&,
                                     const Profile&, const Limits&) override {
    Expectation expectation;
    ArrayExpectation leaf;
    leaf.plain = Literal::Scalar<int32_t>(ElementType::kS32, 7);
    expectation.leaves.push_back(std::move(leaf));
    return expectation;
  }
};

constexpr char kText[] = R"(HloModule m
ENTRY e {
  ROOT c = s32[] constant(7)
}
)";

struct Decisions {
  int64_t total = 5, guilty = 3;
  std::string others = "innocent";  // the rule of those that are not to blame
};

struct Fixture {
  // `fail` is what happens from the guilty decision on.
  explicit Fixture(std::function<absl::StatusOr<RunResult>()> fail, Decisions all = {}) {
    FakeBackend::Script script;
    script.description.name = "fake";
    script.description.has_decisions = true;
    script.compile = [](const Module&, const CompileOptions&) { return absl::OkStatus(); };
    script.decisions = [all](const Module&, const CompileOptions& options) {
      std::vector<Decision> decisions;
      for (int64_t i = 1; i <= all.total; ++i) {
        bool taken = options.decision_limit < 0 || i <= options.decision_limit;
        decisions.push_back(
            {i, DecisionKind::kRewrite, i == all.guilty ? "guilty" : all.others, "e/c", taken});
      }
      return decisions;
    };
    script.run = [fail, guilty = all.guilty](
                     const Module&, const CompileOptions& options,
                     const std::vector<std::vector<const Literal*>>&) -> absl::StatusOr<RunResult> {
      if (options.decision_limit < 0 || options.decision_limit >= guilty) return fail();
      RunResult result;
      result.outputs.push_back(Literal::Scalar<int32_t>(ElementType::kS32, 7));
      return result;
    };
    backend = std::make_unique<FakeBackend>(std::move(script));
    module = *ReadModule(kText);
  }
  CheckSubject subject() { return {oracle, *backend, Profile::Strict(), {}, {.seconds = 1}}; }

  SevenOracle oracle;
  std::unique_ptr<FakeBackend> backend;
  std::unique_ptr<Module> module;
};

absl::StatusOr<RunResult> Eight() {
  RunResult result;
  result.outputs.push_back(Literal::Scalar<int32_t>(ElementType::kS32, 8));
  return result;
}
absl::StatusOr<RunResult> Crash() {
  std::raise(SIGSEGV);
  return absl::InternalError("not reached");
}
absl::StatusOr<RunResult> Hang() {
  for (;;) pause();
}

struct Failure {
  const char* name;
  std::function<absl::StatusOr<RunResult>()> run;
  Outcome::Kind kind;
};

TEST(BlameDecision, NamesTheGuiltyDecisionOfEveryKindOfFailure) {
  for (const Failure& failure :
       {Failure{"wrong", Eight, Outcome::kWrong}, Failure{"crash", Crash, Outcome::kRunCrash},
        Failure{"hang", Hang, Outcome::kTimeout}}) {
    Fixture fixture(failure.run);
    CheckSubject subject = fixture.subject();
    subject.limits.seconds = 0.2;
    Blame blame = BlameDecision(subject, *fixture.module, {}, failure.kind);
    ASSERT_TRUE(blame.found) << failure.name << ": " << blame.note;
    EXPECT_EQ(blame.decision.number, 3) << failure.name;
    EXPECT_EQ(blame.decision.rule, "guilty");
    EXPECT_TRUE(blame.confirmed);
    EXPECT_TRUE(FailsByRule(subject, *fixture.module, {}, failure.kind, "guilty"));
    EXPECT_FALSE(FailsByRule(subject, *fixture.module, {}, failure.kind, "innocent"));
  }
}

TEST(BlameDecision, FindsTheGuiltyOneAmongManyOfItsRule) {
  for (const Failure& failure :
       {Failure{"wrong", Eight, Outcome::kWrong}, Failure{"crash", Crash, Outcome::kRunCrash}}) {
    Fixture fixture(failure.run, {.total = 209, .guilty = 195, .others = "guilty"});
    EXPECT_TRUE(FailsByRule(fixture.subject(), *fixture.module, {}, failure.kind, "guilty"));
    Fixture other(failure.run, {.total = 209, .guilty = 195});
    EXPECT_FALSE(FailsByRule(other.subject(), *other.module, {}, failure.kind, "innocent"));
  }
}

TEST(BlameDecision, IsHonestAboutOtherFailures) {
  Fixture fixture(Eight);
  Blame blame = BlameDecision(fixture.subject(), *fixture.module, {}, Outcome::kRunCrash);
  EXPECT_FALSE(blame.found);
  EXPECT_THAT(blame.note, HasSubstr("does not fail this way"));
}

TEST(Signature, NamesWhatAPassChangedAndNotWhatStandsAround) {
  PassBlame blame;
  blame.before = R"(HloModule m
add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) }
ENTRY e {
  p = f32[4] parameter(0)
  z = f32[] constant(0)
  n = f32[4] negate(p)
  a = f32[4] abs(n)
  ROOT r = f32[] reduce(a, z), dimensions={0}, to_apply=add
})";
  blame.after = R"(HloModule m
add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] subtract(x, y) }
ENTRY e {
  p = f32[4] parameter(0)
  z = f32[] constant(0)
  a = f32[4] abs(p)
  ROOT r = f32[] reduce(a, z), dimensions={0}, to_apply=add
})";
  EXPECT_EQ(ChangedOpcodes(blame), std::set<std::string>{"negate"});
  blame.before = blame.after;
  EXPECT_EQ(ChangedOpcodes(blame), (std::set<std::string>{"abs", "reduce"}))
      << "no count differs: all of them";
}

// A backend like XLA whose answer is wrong unless a pass is disabled.
FakeBackend::Script WrongUnlessDisabled(const std::string& pass) {
  FakeBackend::Script script;
  script.description.name = "fake";
  script.description.in_process = false;
  script.description.dumps_passes = true;
  script.description.profile = &Profile::Strict();
  script.run = [pass](const Module&, const CompileOptions& options,
                      const std::vector<std::vector<const Literal*>>& arguments) {
    auto flag = options.flags.find("xla_disable_hlo_passes");
    RunResult result;
    result.outputs.push_back(*arguments[0][0]);
    const bool silent = flag != options.flags.end() && flag->second == pass;
    if (!silent) result.outputs[0].SetBits(0, result.outputs[0].GetBits(0) ^ 1);
    return absl::StatusOr<RunResult>(std::move(result));
  };
  return script;
}

class EchoOracle : public Oracle {
 public:
  absl::StatusOr<Literal> Evaluate(const Module&, const std::vector<const Literal*>& arguments,
                                   const Limits&) override {
    return *arguments[0];
  }
  absl::StatusOr<Expectation> Expect(const Module&, const std::vector<const Literal*>& arguments,
                                     const Profile&, const Limits&) override {
    Expectation expectation;
    expectation.leaves.emplace_back().plain = *arguments[0];
    return expectation;
  }
};

struct Signed {
  std::string text;
  int compiles = 0;
  int cheap = 0;  // of them: under all cheap flags
};

using Flags = std::map<std::string, std::string>;

Signed SignWhenWrongUnlessDisabled(const std::string& pass, const SigningHints& hints = {},
                                   const Flags& cheap_flags = {}) {
  Signed result;
  FakeBackend::Script script = WrongUnlessDisabled(pass);
  script.compile = [&](const Module&, const CompileOptions& options) {
    const bool is_cheap =
        !cheap_flags.empty() &&
        std::all_of(cheap_flags.begin(), cheap_flags.end(), [&](const auto& flag) {
          const auto at = options.flags.find(flag.first);
          return at != options.flags.end() && at->second == flag.second;
        });
    result.cheap += is_cheap ? 1 : 0;
    return absl::OkStatus();
  };
  FakeBackend backend(std::move(script));
  EchoOracle oracle;
  const CheckSubject subject{oracle, backend, Profile::Strict(), {}, Limits()};
  auto module = ReadModule("HloModule m\nENTRY e { ROOT p = s32[2] parameter(0) }\n");
  EXPECT_TRUE(module.ok()) << module.status();
  std::vector<Literal> inputs;
  inputs.emplace_back(Shape::Array(ElementType::kS32, {2}));
  const Outcome outcome = CheckIsolated(subject, CheckCase::Of(**module, inputs)).outcome;
  EXPECT_TRUE(outcome.Fails(Outcome::kWrong)) << outcome.Describe();
  const int before = backend.compiles();
  const CheckSubject asked =
      UnderCheapFlags(subject, CheckCase::Of(**module, inputs), outcome.kind, cheap_flags);
  result.text = SignatureOf(asked, **module, inputs, outcome, hints).text;
  result.compiles = backend.compiles() - before;
  return result;
}

std::string SignedWhenWrongUnlessDisabled(const std::string& pass) {
  return SignWhenWrongUnlessDisabled(pass).text;
}

TEST(Releases, AreAskedOneByOneAndTheirStatesJoined) {
  EchoOracle oracle;
  FakeBackend backend(WrongUnlessDisabled("nothing"));
  const CheckSubject subject{oracle, backend, Profile::Strict(), {}, Limits()};
  const auto module = ReadModule("HloModule m\nENTRY e { ROOT p = s32[2] parameter(0) }\n");
  ASSERT_TRUE(module.ok()) << module.status();
  std::vector<Literal> inputs;
  inputs.emplace_back(Shape::Array(ElementType::kS32, {2}));
  auto wrong = []() -> absl::StatusOr<std::unique_ptr<Backend>> {
    return std::make_unique<FakeBackend>(WrongUnlessDisabled("nothing"));
  };
  auto right = []() -> absl::StatusOr<std::unique_ptr<Backend>> {
    FakeBackend::Script script = WrongUnlessDisabled("");
    script.run = [](const Module&, const CompileOptions&,
                    const std::vector<std::vector<const Literal*>>& arguments) {
      RunResult result;
      result.outputs.push_back(*arguments[0][0]);
      return absl::StatusOr<RunResult>(std::move(result));
    };
    return std::make_unique<FakeBackend>(script);
  };
  auto gone = []() -> absl::StatusOr<std::unique_ptr<Backend>> {
    return absl::NotFoundError("no such interpreter");
  };
  const Release releases[] = {{"1.0", right}, {"1.1", wrong}, {"1.2", wrong}, {"1.3", gone}};
  const std::vector<ReleaseState> states = CheckReleases(subject, **module, inputs, releases);
  ASSERT_EQ(states.size(), 4u);
  EXPECT_NE(states[0].state, states[1].state);
  EXPECT_EQ(states[1].state, states[2].state);
  EXPECT_EQ(states[3].state, "not there: no such interpreter");
  EXPECT_EQ(DescribeReleases(states), states[0].state + ": 1.0; " + states[1].state +
                                          ": 1.1 to 1.2; not there: no such interpreter: 1.3");
}

TEST(Signature, TellsBugsApartByWhatSilencesThem) {
  const std::string algsimp = SignedWhenWrongUnlessDisabled("algsimp");
  EXPECT_EQ(algsimp, "wrong value: code pffff of parameter");
  EXPECT_EQ(SignedWhenWrongUnlessDisabled("algsimp"), algsimp);
  EXPECT_EQ(SignedWhenWrongUnlessDisabled("fusion"), "wrong value: code fpfff of parameter");
}

TEST(Signature, IsTheSameUnderCheapFlagsAndTakesFewerCompilations) {
  const Flags cheap = {{"xla_backend_optimization_level", "0"},
                       {"xla_cpu_use_fusion_emitters", "false"}};
  const Signed plain = SignWhenWrongUnlessDisabled("algsimp");
  const Signed quick = SignWhenWrongUnlessDisabled("algsimp", {}, cheap);
  EXPECT_EQ(quick.text, plain.text);
  // Two of the flags are set as it is, and one compilation asks whether it fails so.
  EXPECT_EQ(quick.compiles, plain.compiles - 1);
  EXPECT_EQ(quick.cheap, quick.compiles) << "nothing is asked of what is compiled at length";
}

TEST(Signature, IsAskedAsUsersCompileWhereCheapFlagsSilenceTheBug) {
  // Under the cheap flag the program is right, so that it would be right under all others as well.
  const Flags cheap = {{"xla_disable_hlo_passes", "fusion"}};
  EXPECT_EQ(SignWhenWrongUnlessDisabled("fusion", {}, cheap).text,
            "wrong value: code fpfff of parameter");
}

TEST(Signature, TakesTheFirstWrongArrayThatIsKnown) {
  const SigningHints known = {.first = WrongArray()};
  EXPECT_EQ(SignWhenWrongUnlessDisabled("algsimp", known).text,
            SignedWhenWrongUnlessDisabled("algsimp"));
}

TEST(Signature, IsToldInWords) {
  using State = FlagState;
  const std::vector<State> fails(5, State::kFails);
  std::vector<State> some = fails;
  some.front() = some.back() = State::kPasses;
  const auto wrong = [](const char* pass, const std::vector<State>& states, const char* op,
                        const std::set<std::string>& operands, const char* numbers) {
    Culprit culprit;
    culprit.peer = "xla";
    culprit.pass = pass;
    culprit.states = states;
    culprit.op = op;
    culprit.operands = operands;
    culprit.numbers = numbers;
    return InWords(culprit);
  };
  const auto died = [](Outcome::Kind kind, const char* words) {
    Culprit culprit;
    culprit.kind = kind;
    culprit.words = words;
    return InWords(culprit);
  };
  EXPECT_EQ(wrong("", some, "log", {"exponential"}, "f"),
            "wrong value: no pass to blame, right without algsimp or with "
            "xla_backend_optimization_level=0, at log(exponential) of floats");
  EXPECT_EQ(wrong("", fails, "cosine", {"reverse"}, "c"),
            "wrong value: no pass to blame at cosine(reverse) of complex numbers");
  EXPECT_EQ(wrong("import", fails, "dynamic-slice", {}, ""),
            "wrong value: import at dynamic-slice");
  EXPECT_EQ(wrong("algsimp", {}, "dynamic-slice", {"dynamic-slice"}, ""),
            "wrong value: algsimp at dynamic-slice(dynamic-slice)");
  EXPECT_EQ(died(Outcome::kCompileCrash, "the worker closed its output;"),
            "compile crash: the process died");
  EXPECT_EQ(died(Outcome::kRunCrash, "the worker died of SIGSEGV;"),
            "run crash: the process died of SIGSEGV");
  EXPECT_EQ(died(Outcome::kRunCrash, "the worker died of SIGABRT; corrupted heap"),
            "run crash: the process died of SIGABRT: corrupted heap");
  EXPECT_EQ(died(Outcome::kCompileCrash,
                 "the worker closed its output; F# #:#:#.# # "
                 "ir_array.cc:#] Check failed: bit_offset !="),
            "compile crash: the process died: ir_array.cc:#] Check failed: bit_offset !=");
}

}  // namespace
}  // namespace assay
