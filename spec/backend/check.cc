// The steps of a check, in order, and the child process around them.
#include "spec/backend/check.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/hash/hash.h"
#include "nlohmann/json.hpp"
#include "spec/base/clock.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/ops/collective_groups.h"
#include "spec/process/shared_array.h"
#include "spec/text/writer.h"

namespace assay {
namespace {

using Json = nlohmann::json;

constexpr int64_t kShownElements = 64;
// Oracle, compilation and run each have the limit of time to themselves.
constexpr double kStepsOfACheck = 3;

int64_t DeviceCount(const CheckCase& check_case) {
  return check_case.devices.replicas * check_case.devices.partitions;
}

bool HasOutfeed(const Module& module) {
  for (const Computation* computation : module.computations()) {
    for (const Instruction* instruction : *computation) {
      if (instruction->opcode() == Opcode::kOutfeed) return true;
    }
  }
  return false;
}

std::string ShortText(const Literal& value) {
  int64_t elements = 0;
  for (const Literal* leaf : Leaves(value)) elements += leaf->element_count();
  return elements <= kShownElements ? value.ToString() : "";
}

DecisionKind DecisionKindFromName(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(DecisionKind::kTask); ++i) {
    if (Name(static_cast<DecisionKind>(i)) == name) return static_cast<DecisionKind>(i);
  }
  return DecisionKind::kRewrite;
}

std::string Encode(const CheckResult& result) {
  Json decisions = Json::array();
  for (const Decision& decision : result.decisions) decisions.push_back(ToJson(decision));
  const CheckSeconds& seconds = result.seconds;
  const Json object = {
      {"outcome", ToJson(result.outcome)},
      {"decisions", std::move(decisions)},
      {"output", result.output},
      {"seconds", {seconds.oracle, seconds.compile, seconds.run, seconds.judge, seconds.passes}},
      {"run_seconds", result.run_seconds}};
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// A child whose memory was trampled on may send anything.
bool Decode(const std::string& bytes, CheckResult& result) {
  const Json object = Json::parse(bytes, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object() || !object.contains("outcome")) return false;
  try {
    result.outcome = OutcomeFromJson(object["outcome"]);
    for (const Json& row : object.value("decisions", Json::array())) {
      result.decisions.push_back(DecisionFromJson(row));
    }
    result.output = object.value("output", "");
    std::vector<double> seconds = object.value("seconds", std::vector<double>());
    seconds.resize(5);
    result.seconds = {seconds[0], seconds[1], seconds[2], seconds[3], seconds[4]};
    result.run_seconds = object.value("run_seconds", 0.0);
  } catch (const Json::exception&) {
    return false;
  }
  return true;
}

}  // namespace

CheckCase CheckCase::Of(const Module& module, const std::vector<Literal>& inputs) {
  std::vector<const Literal*> arguments;
  for (const Literal& input : inputs) arguments.push_back(&input);
  return OfPointers(module, std::move(arguments));
}

CheckCase CheckCase::OfPointers(const Module& module, std::vector<const Literal*> inputs) {
  CheckCase all{module, {}, assay::DevicesOf(module)};
  all.arguments.assign(static_cast<size_t>(DeviceCount(all)), std::move(inputs));
  return all;
}

DeviceAssignment DevicesOf(const Module& module) {
  constexpr int64_t kMost = 1024;
  const int64_t replicas = module.config().replica_count;
  const int64_t partitions = module.config().num_partitions;
  const bool are_several = (replicas > 1 || partitions > 1) && replicas >= 1 && partitions >= 1;
  if (!are_several || replicas > kMost || partitions > kMost / replicas) return {};
  for (const Computation* computation : module.computations()) {
    for (const Instruction* instruction : *computation) {
      if (KnowsDevices(instruction->opcode())) return {replicas, partitions, {}};
    }
  }
  return {};
}

absl::StatusOr<CaseExpectation> ExpectOn(Oracle& oracle, const CheckCase& check_case,
                                         const Profile& profile, const Limits& limits) {
  CaseExpectation expectation;
  if (DeviceCount(check_case) == 1 && check_case.infeeds.empty() &&
      !HasOutfeed(check_case.module)) {
    ASSAY_ASSIGN_OR_RETURN(
        expectation.results,
        oracle.Expect(check_case.module, check_case.arguments.at(0), profile, limits));
    return expectation;
  }
  std::vector<DeviceInputs> inputs;
  for (size_t d = 0; d < check_case.arguments.size(); ++d) {
    inputs.push_back({check_case.arguments[d], {}});
    if (d < check_case.infeeds.size()) inputs.back().infeed = check_case.infeeds[d];
  }
  ASSAY_ASSIGN_OR_RETURN(
      std::vector<DeviceExpectation> devices,
      oracle.ExpectDevices(check_case.module, check_case.devices, inputs, profile, limits));
  for (DeviceExpectation& device : devices) {
    expectation.results.Append(std::move(device.result));
    for (Expectation& item : device.outfeed) expectation.outfeeds.Append(std::move(item));
  }
  return expectation;
}

absl::StatusOr<Literal> EvaluateOn(Oracle& oracle, const CheckCase& check_case,
                                   const Limits& limits) {
  if (DeviceCount(check_case) == 1)
    return oracle.Evaluate(check_case.module, check_case.arguments.at(0), limits);
  std::vector<DeviceInputs> inputs;
  for (const std::vector<const Literal*>& arguments : check_case.arguments)
    inputs.push_back({arguments, {}});
  ASSAY_ASSIGN_OR_RETURN(
      std::vector<DeviceOutputs> devices,
      oracle.EvaluateDevices(check_case.module, check_case.devices, inputs, limits));
  std::vector<Literal> all;
  for (DeviceOutputs& device : devices) all.push_back(std::move(device.result));
  return Literal::Tuple(std::move(all));
}

namespace {

void AddBytes(const Literal& value, std::vector<size_t>& hashes) {
  for (const Literal* leaf : Leaves(value)) {
    const absl::Span<const uint8_t> bytes = leaf->bytes();
    const absl::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    hashes.push_back(absl::HashOf(all));
  }
}

// A hash for each leaf of each argument.
std::vector<std::vector<size_t>> HashesOf(
    const std::vector<std::vector<const Literal*>>& arguments) {
  std::vector<std::vector<size_t>> all;
  for (const std::vector<const Literal*>& of_device : arguments) {
    for (const Literal* argument : of_device) {
      std::vector<size_t>& hashes = all.emplace_back();
      if (argument != nullptr) AddBytes(*argument, hashes);
    }
  }
  return all;
}

}  // namespace

absl::StatusOr<RunResult> RunGuarded(Executable& executable,
                                     const std::vector<std::vector<const Literal*>>& arguments) {
  const std::vector<std::vector<size_t>> before = HashesOf(arguments);
  ASSAY_ASSIGN_OR_RETURN(RunResult run, executable.Run(arguments));
  const std::vector<std::vector<size_t>> after = HashesOf(arguments);
  for (size_t k = 0; k < before.size(); ++k) {
    if (before[k] == after[k]) continue;
    const size_t each = arguments.front().size();  // of one device
    return MakeError(ErrorClass::kRunCrash,
                     StrCat("the run wrote over its argument ", each == 0 ? k : k % each));
  }
  return run;
}

absl::StatusOr<RunResult> RunOn(Executable& executable, const CheckCase& check_case) {
  if (!check_case.infeeds.empty()) ASSAY_RETURN_IF_ERROR(executable.SetInfeed(check_case.infeeds));
  ASSAY_ASSIGN_OR_RETURN(RunResult run, RunGuarded(executable, check_case.arguments));
  if (static_cast<int64_t>(run.outputs.size()) != DeviceCount(check_case)) {
    return MakeError(ErrorClass::kRunCrash,
                     run.outputs.empty() ? std::string("the backend returned no output")
                                         : StrCat("there are outputs of ", run.outputs.size(),
                                                  " devices, expected ", DeviceCount(check_case)));
  }
  return run;
}

Literal Gathered(RunResult run, bool with_outfeeds) {
  std::vector<Literal> all = std::move(run.outputs);
  if (with_outfeeds) {
    for (std::vector<Literal>& device : run.outfeeds) {
      for (Literal& item : device) all.push_back(std::move(item));
    }
  }
  return all.size() == 1 ? std::move(all[0]) : Literal::Tuple(std::move(all));
}

void Checker::SetExpectation(CaseExpectation expectation) {
  has_outfeeds_ = !expectation.outfeeds.leaves.empty();
  expectation_ = std::move(expectation.results);
  expectation_.Append(std::move(expectation.outfeeds));
  refusal_.reset();
  asked_ = true;
}

void Checker::Enter(Phase phase) {
  if (note_ != nullptr) note_->store(phase);
}

// False if the oracle does not say what is right; the outcome then tells why.
bool Checker::AskOracle(CheckResult& result) {
  if (!asked_) {
    Enter(Phase::kOracle);
    ScopedTimer timer(result.seconds.oracle);
    Limits limits = subject_.limits;
    if (subject_.oracle_steps > 0) limits.steps = subject_.oracle_steps;
    absl::StatusOr<CaseExpectation> expectation =
        ExpectOn(subject_.oracle, case_, subject_.profile, limits);
    asked_ = true;
    if (expectation.ok()) {
      SetExpectation(*std::move(expectation));
    } else {
      refusal_ = OutcomeOfOracle(expectation.status());
    }
  }
  if (refusal_.has_value()) result.outcome = *refusal_;
  return !refusal_.has_value();
}

absl::Status Checker::Compile(int64_t decision_limit) {
  Enter(Phase::kCompile);
  executable_ = nullptr;
  CompileOptions options = subject_.options;
  options.decision_limit = decision_limit;
  options.limits = subject_.limits;
  options.devices = case_.devices;
  options.poison = true;
  ASSAY_ASSIGN_OR_RETURN(executable_, subject_.backend.Compile(case_.module, options));
  return absl::OkStatus();
}

void Checker::RunAndJudge(CheckResult& result) {
  result.decisions = executable_->decisions();
  if (!subject_.backend.Describe().can_run) {
    result.outcome = MakeOutcome(Outcome::kUnsupported, Phase::kRun,
                                 "the backend compiles only; it compiled the module");
    return;
  }
  Enter(Phase::kRun);
  {
    ScopedTimer timer(result.seconds.run);
    absl::StatusOr<RunResult> run = RunOn(*executable_, case_);
    if (!run.ok()) {
      result.outcome = OutcomeOf(run.status(), Phase::kRun);
      return;
    }
    result.run_seconds = run->seconds;
    answer_ = Gathered(*std::move(run), has_outfeeds_);
  }
  Enter(Phase::kJudge);
  ScopedTimer timer(result.seconds.judge);
  result.outcome = OutcomeOfAnswer(expectation_, answer_);
}

Outcome Checker::Repeat(const CheckRequest& request, Outcome first) {
  for (int64_t i = 0; i < request.repeats; ++i) {
    const bool compile = i % request.compile_every == request.compile_every - 1;
    if (compile) {
      if (absl::Status status = Compile(request.decision_limit); !status.ok()) {
        return OutcomeOf(status, Phase::kCompile);
      }
    }
    Enter(Phase::kRun);
    absl::StatusOr<RunResult> run = RunOn(*executable_, case_);
    if (!run.ok()) return OutcomeOf(run.status(), Phase::kRun);
    if (Gathered(*std::move(run), has_outfeeds_).BitwiseEqual(answer_)) continue;
    return MakeOutcome(Outcome::kNondeterministic, Phase::kRun,
                       StrCat(compile ? "a second compilation" : "a later run",
                              " gave other bits for the same inputs"));
  }
  return first;
}

CheckResult Checker::Check(const CheckRequest& request) {
  CheckResult result;
  if (!AskOracle(result)) return result;
  {
    ScopedTimer timer(result.seconds.compile);
    if (absl::Status status = Compile(request.decision_limit); !status.ok()) {
      result.outcome = OutcomeOf(status, Phase::kCompile);
      return result;
    }
  }
  const std::map<std::string, double> statistics = executable_->Statistics();
  if (auto at = statistics.find("compile.seconds.passes"); at != statistics.end()) {
    result.seconds.passes = std::min(at->second, result.seconds.compile);
  }
  RunAndJudge(result);
  const bool answered = result.outcome.phase == Phase::kJudge;
  if (answered) result.outcome = Repeat(request, std::move(result.outcome));
  if (answered && result.outcome.IsFailure()) result.output = ShortText(answer_);
  return result;
}

CheckResult Checker::CheckAgain(std::vector<std::vector<const Literal*>> arguments) {
  case_.arguments = std::move(arguments);
  asked_ = false;
  refusal_.reset();
  if (executable_ == nullptr) return Check();
  CheckResult result;
  if (AskOracle(result)) RunAndJudge(result);
  return result;
}

std::string Checker::OptimizedText(int64_t decision_limit) {
  if (!Compile(decision_limit).ok()) return "";
  absl::StatusOr<std::unique_ptr<Module>> module = executable_->OptimizedModule();
  return module.ok() ? WriteModule(**module, WriteOptions::Short()) : "";
}

CheckResult CheckOn(const CheckSubject& subject, const CheckCase& check_case,
                    const CheckRequest& request) {
  return Checker(subject, check_case).Check(request);
}

CheckResult CheckIsolated(const CheckSubject& subject, const CheckCase& check_case,
                          const CheckRequest& request) {
  Checker checker(subject, check_case);
  if (!subject.backend.Describe().in_process) return checker.Check(request);
  SharedArray<std::atomic<Phase>> phase(1);
  checker.NotePhaseIn(&phase[0]);
  const IsolateLimits limits{subject.limits.seconds * kStepsOfACheck, subject.limits.memory_bytes};
  const Isolated child = RunIsolated([&] { return Encode(checker.Check(request)); }, limits);
  CheckResult result;
  if (child.ok() && Decode(child.bytes, result)) return result;
  result = {};
  result.outcome = OutcomeOfDeath(child, phase[0].load());
  return result;
}

Json ToJson(const Decision& decision) {
  return {{"number", decision.number},
          {"kind", Name(decision.kind)},
          {"rule", decision.rule},
          {"where", decision.where},
          {"taken", decision.taken}};
}

Decision DecisionFromJson(const Json& json) {
  return {json.value("number", int64_t{0}), DecisionKindFromName(json.value("kind", "")),
          json.value("rule", ""), json.value("where", ""), json.value("taken", true)};
}

}  // namespace assay
