// The steps of a check on scripted oracles and backends.
#include "spec/backend/check.h"

#include <csignal>
#include <functional>
#include <tuple>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "spec/backend/fake_backend.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

using testing::HasSubstr;

Literal Scalar(int32_t value) { return Literal::Scalar<int32_t>(ElementType::kS32, value); }

Expectation Exactly(int32_t value) {
  Expectation expectation;
  expectation.leaves.emplace_back();
  expectation.leaves[0].plain = Scalar(value);
  return expectation;
}

// Every program has the answer 7, sends 70 + the device's number, and on several devices answers 7
// more on each.
class SevenOracle : public Oracle {
 public:
  absl::StatusOr<Literal> Evaluate(const Module&, const std::vector<const Literal*>&,
                                   const Limits&) override {
    return Scalar(7);
  }
  absl::StatusOr<Expectation> Expect(const Module&, const std::vector<const Literal*>&,
                                     const Profile&, const Limits& limits) override {
    ++asked;
    steps = limits.steps;
    if (!refuses.ok()) return refuses;
    return Exactly(7);
  }
  absl::StatusOr<std::vector<DeviceExpectation>> ExpectDevices(
      const Module&, const DeviceAssignment&, const std::vector<DeviceInputs>& inputs,
      const Profile&, const Limits&) override {
    std::vector<DeviceExpectation> devices(inputs.size());
    for (size_t d = 0; d < devices.size(); ++d) {
      const auto number = static_cast<int32_t>(d);
      devices[d].result = Exactly(7 * (number + 1));
      devices[d].outfeed.push_back(Exactly(70 + number));
    }
    return devices;
  }
  absl::Status refuses;
  int asked = 0;
  int64_t steps = 0;
};

RunResult Answers(std::vector<int32_t> outputs, std::vector<int32_t> outfeeds = {}) {
  RunResult result;
  for (int32_t value : outputs) result.outputs.push_back(Scalar(value));
  for (int32_t value : outfeeds) result.outfeeds.push_back({Scalar(value)});
  return result;
}

struct Scene {
  explicit Scene(std::function<absl::StatusOr<RunResult>()> run) {
    FakeBackend::Script script;
    script.description.name = "fake";
    script.decisions = [](const Module&, const CompileOptions& options) {
      return std::vector<Decision>{
          {1, DecisionKind::kLlvm, "a rule", "e/c", options.decision_limit != 0}};
    };
    script.run = [run = std::move(run)](const Module&, const CompileOptions&,
                                        const std::vector<std::vector<const Literal*>>&) {
      return run();
    };
    backend = std::make_unique<FakeBackend>(std::move(script));
    module = *ReadModule("HloModule m\nENTRY e {\n  ROOT c = s32[] constant(7)\n}\n");
  }
  CheckSubject subject() { return {oracle, *backend, Profile::Strict(), {}, {.seconds = 1}}; }
  CheckCase one() { return CheckCase::Of(*module, {}); }

  SevenOracle oracle;
  std::unique_ptr<FakeBackend> backend;
  std::unique_ptr<Module> module;
};

TEST(Check, JudgesAnAnswer) {
  Scene right([] { return Answers({7}); });
  const CheckResult passed = CheckOn(right.subject(), right.one());
  EXPECT_EQ(Name(passed.outcome.kind), "pass");
  EXPECT_EQ(passed.outcome.judgement.elements, 1);
  EXPECT_EQ(passed.decisions.size(), 1u);
  EXPECT_EQ(passed.output, "") << "only failures need to be shown";

  Scene wrong([] { return Answers({8}); });
  const CheckResult failed = CheckOn(wrong.subject(), wrong.one(), {.decision_limit = 0});
  EXPECT_EQ(Name(failed.outcome.kind), "wrong value");
  EXPECT_EQ(failed.output, "8");
  EXPECT_FALSE(failed.decisions.at(0).taken);
}

TEST(Check, SaysWhereItEnded) {
  Scene refused([] { return Answers({7}); });
  refused.oracle.refuses = MakeError(ErrorClass::kTimeout, "out of steps");
  EXPECT_EQ(CheckOn(refused.subject(), refused.one()).outcome.Describe(),
            "oracle: timeout: out of steps");
  EXPECT_EQ(refused.backend->compiles(), 0) << "nobody knows what would be right";

  Scene crash([] { return MakeError(ErrorClass::kRunCrash, "boom"); });
  const Outcome outcome = CheckOn(crash.subject(), crash.one()).outcome;
  EXPECT_EQ(Name(outcome.kind), "run crash");
  EXPECT_EQ(outcome.phase, Phase::kRun);

  Scene silent([] { return Answers({}); });
  EXPECT_THAT(CheckOn(silent.subject(), silent.one()).outcome.reason, HasSubstr("no output"));
}

TEST(Check, AsksTheOracleOnceAndWithItsOwnSteps) {
  Scene scene([] { return Answers({7}); });
  CheckSubject subject = scene.subject();
  subject.oracle_steps = 123;
  Checker checker(subject, scene.one());
  checker.Check();
  checker.Check();
  EXPECT_EQ(scene.oracle.asked, 1);
  EXPECT_EQ(scene.oracle.steps, 123);
  EXPECT_EQ(scene.backend->compiles(), 2);
  checker.CheckAgain({{}});
  EXPECT_EQ(scene.oracle.asked, 2) << "other inputs have other answers";
  EXPECT_EQ(scene.backend->compiles(), 2) << "on the executable that is there";
}

TEST(Check, RepeatsShowDifferingBits) {
  int runs = 0;
  Scene scene([&runs] { return Answers({++runs < 4 ? 7 : 8}); });
  const CheckResult result = CheckOn(scene.subject(), scene.one(), {.repeats = 8});
  EXPECT_EQ(Name(result.outcome.kind), "nondeterministic");
  EXPECT_EQ(runs, 4);
}

TEST(RunGuarded, SeesArgumentsThatAreWrittenOver) {
  const std::vector<Literal> inputs = {Scalar(1), Literal::Tuple({})};
  for (const bool writes : {false, true}) {
    FakeBackend::Script script;
    script.run = [writes](const Module&, const CompileOptions&,
                          const std::vector<std::vector<const Literal*>>& arguments) {
      if (writes) const_cast<Literal*>(arguments[1][0])->SetInteger(0, 2);
      return absl::StatusOr<RunResult>(Answers({7, 7}));
    };
    FakeBackend backend(std::move(script));
    const auto module = *ReadModule("HloModule m\nENTRY e {\n  ROOT c = s32[] constant(7)\n}\n");
    auto executable = backend.Compile(*module, {});
    ASSERT_TRUE(executable.ok()) << executable.status();
    const Literal other = Scalar(1);
    const absl::StatusOr<RunResult> run =
        RunGuarded(**executable, {{&inputs[0], &inputs[1]}, {&other, &inputs[1]}});
    EXPECT_EQ(run.ok(), !writes);
    if (writes) {
      EXPECT_EQ(OutcomeOf(run.status(), Phase::kRun).kind, Outcome::kRunCrash);
      EXPECT_THAT(run.status().message(), HasSubstr("wrote over its argument 0"));
    }
  }
}

TEST(Check, JudgesAllDevicesAndWhatTheySend) {
  for (const auto& [outputs, outfeeds, kind] :
       {std::tuple{std::vector<int32_t>{7, 14}, std::vector<int32_t>{70, 71}, Outcome::kPassed},
        std::tuple{std::vector<int32_t>{7, 15}, std::vector<int32_t>{70, 71}, Outcome::kWrong},
        std::tuple{std::vector<int32_t>{7, 14}, std::vector<int32_t>{70, 72}, Outcome::kWrong},
        std::tuple{std::vector<int32_t>{7, 14}, std::vector<int32_t>{}, Outcome::kWrong},
        std::tuple{std::vector<int32_t>{7}, std::vector<int32_t>{70, 71}, Outcome::kRunCrash}}) {
    Scene scene([answer = Answers(outputs, outfeeds)] { return answer; });
    DeviceAssignment devices;
    devices.replicas = 2;
    const CheckCase two{*scene.module, {{}, {}}, devices, {}};
    EXPECT_EQ(Name(CheckOn(scene.subject(), two).outcome.kind), Name(kind));
  }
}

// A header may name devices that the program has nothing to do with.
TEST(CheckCase, IsOnAllDevicesThatMeet) {
  const auto count = [](const char* header, const char* op) {
    const std::string text =
        StrCat("HloModule m, ", header, "\nENTRY e {\n  ROOT x = u32[] ", op, "\n}\n");
    absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
    EXPECT_TRUE(module.ok()) << module.status();
    return CheckCase::Of(**module, std::vector<Literal>()).arguments.size();
  };
  EXPECT_EQ(count("replica_count=2, num_partitions=3", "replica-id()"), 6u);
  EXPECT_EQ(count("num_partitions=3", "partition-id()"), 3u);
  EXPECT_EQ(count("replica_count=2, num_partitions=3", "constant(1)"), 1u);
  EXPECT_EQ(count("replica_count=1", "replica-id()"), 1u);
  EXPECT_EQ(count("replica_count=9000000000000000000, num_partitions=9", "replica-id()"), 1u);
}

TEST(CheckIsolated, MakesADeathAnOutcome) {
  Scene scene([]() -> absl::StatusOr<RunResult> {
    std::raise(SIGSEGV);
    return absl::InternalError("not reached");
  });
  const CheckResult result = CheckIsolated(scene.subject(), scene.one());
  EXPECT_EQ(Name(result.outcome.kind), "run crash");
  EXPECT_THAT(result.outcome.Describe(), HasSubstr("while running: died of SIGSEGV"));

  Scene right([] { return Answers({8}); });
  const CheckResult returned = CheckIsolated(right.subject(), right.one());
  EXPECT_EQ(Name(returned.outcome.kind), "wrong value");
  EXPECT_EQ(returned.output, "8");
  EXPECT_EQ(returned.decisions.at(0).kind, DecisionKind::kLlvm);
  EXPECT_EQ(returned.decisions.at(0).where, "e/c");
}

}  // namespace
}  // namespace assay
