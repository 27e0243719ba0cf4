#include "fuzz/campaign/case_runner.h"

#include <array>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "spec/base/error.h"
#include "spec/numerics/expectation.h"
#include "spec/text/writer.h"
#include "spec/types/float_format.h"

namespace assay {
namespace {

constexpr std::array<std::string_view, kCaseOutcomeCount> kOutcomeNames = {
    "pass", "inconclusive", "mistrusted", "unsupported", "sick", "finding"};

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Adds the time until its end to a stage.
class Clock {
 public:
  explicit Clock(double& into) : into_(into), start_(Now()) {}
  ~Clock() { into_ += Now() - start_; }
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;

 private:
  double& into_;
  double start_;
};

BackendRecord FailedWith(const absl::Status& status, CasePhase phase) {
  BackendRecord record;
  record.outcome = CaseOutcome::kFinding;
  record.phase = phase;
  record.text = std::string(status.message());
  switch (ClassOf(status)) {
    case ErrorClass::kUnsupported:
      record.outcome = CaseOutcome::kUnsupported;
      break;
    case ErrorClass::kSickMachine:
      record.outcome = CaseOutcome::kSick;
      break;
    case ErrorClass::kRejected:
      record.kind = FindingKind::kRejected;
      break;
    case ErrorClass::kCompileCrash:
      record.kind = FindingKind::kCompileCrash;
      break;
    case ErrorClass::kRunCrash:
      record.kind = FindingKind::kRunCrash;
      break;
    case ErrorClass::kTimeout:
      record.kind = FindingKind::kTimeout;
      break;
    case ErrorClass::kOutOfMemory:
      record.kind = FindingKind::kOutOfMemory;
      break;
  }
  return record;
}

// The oracle's own errors: its limits make a case inconclusive, what it does not know is
// unsupported, all else is a bug of ours.
BackendRecord OracleFailed(const absl::Status& status) {
  BackendRecord record = FailedWith(status, CasePhase::kOracle);
  record.text = absl::StrCat("oracle: ", record.text);
  ErrorClass error = ClassOf(status);
  if (error == ErrorClass::kTimeout || error == ErrorClass::kOutOfMemory) {
    record.outcome = CaseOutcome::kInconclusive;
  } else if (record.outcome == CaseOutcome::kFinding) {
    record.kind = FindingKind::kHarness;
  }
  return record;
}

bool IsNanAt(const Literal& leaf, int64_t i) {
  return IsFloat(leaf.element_type()) && IsNanCode(Format(leaf.element_type()), leaf.GetBits(i));
}

// Whether a leaf shows next to nothing: at least 19 of 20 elements zero, or NaN, or (of four or
// more) the same.
bool IsTrivial(const Literal& leaf) {
  int64_t count = leaf.element_count(), zeros = 0, nans = 0, equal = 0;
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits = leaf.GetBits(i);
    zeros += bits == 0 ? 1 : 0;
    nans += IsNanAt(leaf, i) ? 1 : 0;
    equal += bits == leaf.GetBits(0) ? 1 : 0;
  }
  auto nearly_all = [&](int64_t some) { return 20 * some >= 19 * count; };
  return nearly_all(zeros) || nearly_all(nans) || (count >= 4 && nearly_all(equal));
}

bool ShowsLittle(const Literal& output) {
  for (const Literal* leaf : Leaves(output)) {
    if (!IsTrivial(*leaf)) return false;
  }
  return true;
}

bool HasFloats(const Module& module) {
  for (const Computation* computation : module.computations()) {
    for (const Instruction* instruction : *computation) {
      if (IsFloat(instruction->shape().element_type())) return true;
    }
  }
  return false;
}

std::map<std::string, int64_t> Fired(const Executable& executable) {
  std::map<std::string, int64_t> rules;
  for (const Decision& decision : executable.decisions()) {
    if (decision.taken) ++rules[decision.rule];
  }
  return rules;
}

}  // namespace

std::string_view Name(CaseOutcome outcome) { return kOutcomeNames[static_cast<size_t>(outcome)]; }

StageSeconds& StageSeconds::operator+=(const StageSeconds& other) {
  generate += other.generate;
  oracle += other.oracle;
  passes += other.passes;
  code += other.code;
  run += other.run;
  judge += other.judge;
  return *this;
}

// One module with one set of inputs on one backend.
struct CaseRunner::Attempt {
  const Module& module;
  std::vector<const Literal*> arguments;
  size_t number;
  Backend& backend;
  const Profile& profile;
  WorkerState& state;
  std::unique_ptr<Executable> executable;
  Expectation expectation;
  Literal output;

  void Enter(CasePhase phase) { state.phase.store(static_cast<uint8_t>(phase)); }
  absl::StatusOr<Literal> RunOnce() {
    Enter(CasePhase::kRun);
    absl::StatusOr<RunResult> result = executable->Run({arguments});
    if (!result.ok()) return result.status();
    if (result->outputs.empty()) {
      return MakeError(ErrorClass::kRunCrash, "the backend returned no output");
    }
    return std::move(result->outputs[0]);
  }
};

const Profile& CaseRunner::ProfileOf(size_t backend) const {
  if (!options_.profile.empty()) {
    absl::StatusOr<const Profile*> found = Profile::Find(options_.profile);
    if (found.ok()) return **found;
  }
  const Profile* own = backends_[backend]->Describe().profile;
  return own != nullptr ? *own : Profile::Xla();
}

absl::StatusOr<std::unique_ptr<Executable>> CaseRunner::Compile(Attempt& attempt,
                                                                CaseRecord& record) {
  attempt.Enter(CasePhase::kCompile);
  double start = Now();
  auto executable = attempt.backend.Compile(attempt.module, options_.compile);
  double seconds = Now() - start, passes = 0;
  if (executable.ok()) {
    std::map<std::string, double> statistics = (*executable)->Statistics();
    auto found = statistics.find("compile.seconds.passes");
    if (found != statistics.end() && found->second <= seconds) passes = found->second;
  }
  record.seconds.passes += passes;
  record.seconds.code += seconds - passes;
  return executable;
}

BackendRecord CaseRunner::RunAndJudge(Attempt& attempt, CaseRecord& record) {
  attempt.Enter(CasePhase::kOracle);
  {
    Clock clock(record.seconds.oracle);
    Limits limits = options_.compile.limits;
    limits.steps = options_.oracle_steps;
    auto expectation = oracle_.Expect(attempt.module, attempt.arguments, attempt.profile, limits);
    if (!expectation.ok()) return OracleFailed(expectation.status());
    attempt.expectation = *std::move(expectation);
  }
  if (attempt.executable == nullptr) {
    auto executable = Compile(attempt, record);
    if (!executable.ok()) return FailedWith(executable.status(), CasePhase::kCompile);
    attempt.executable = *std::move(executable);
    for (const auto& [rule, count] : Fired(*attempt.executable)) record.rules[rule] += count;
  }
  {
    Clock clock(record.seconds.run);
    absl::StatusOr<Literal> output = attempt.RunOnce();
    if (!output.ok()) return FailedWith(output.status(), CasePhase::kRun);
    attempt.output = *std::move(output);
  }
  Clock clock(record.seconds.judge);
  attempt.Enter(CasePhase::kJudge);
  BackendRecord result;
  Judgement judgement = Judge(attempt.expectation, attempt.output);
  switch (judgement.verdict) {
    case Verdict::kPass:
      if (ShowsLittle(attempt.output)) result.outcome = CaseOutcome::kMistrusted;
      break;
    case Verdict::kInconclusive:
      result.outcome = CaseOutcome::kInconclusive;
      result.text = judgement.reason;
      break;
    case Verdict::kFail:
      result.outcome = CaseOutcome::kFinding;
      result.text = DescribeFailure(attempt.expectation, attempt.output, judgement);
      break;
  }
  return result;
}

// The same program again, compiled again: differing bits are a finding of their own.
BackendRecord CaseRunner::Repeat(Attempt& attempt, BackendRecord first) {
  CaseRecord ignored;
  for (int64_t i = 0; i < options_.repeats; ++i) {
    if (i + 1 == options_.repeats) {
      auto again = Compile(attempt, ignored);
      if (!again.ok()) return FailedWith(again.status(), CasePhase::kCompile);
      attempt.executable = *std::move(again);
    }
    absl::StatusOr<Literal> output = attempt.RunOnce();
    if (!output.ok()) return FailedWith(output.status(), CasePhase::kRun);
    if (output->BitwiseEqual(attempt.output)) continue;
    first.outcome = CaseOutcome::kFinding;
    first.kind = FindingKind::kNondeterministic;
    first.phase = CasePhase::kRun;
    first.text = absl::StrCat(i + 1 == options_.repeats ? "a second compilation" : "a later run",
                              " gave other bits for the same inputs");
    return first;
  }
  return first;
}

BackendRecord CaseRunner::RunOn(const Case& made, size_t backend, bool exact, CaseRecord& record,
                                WorkerState& state) {
  state.backend.store(static_cast<uint8_t>(backend));
  state.exact.store(exact ? 1 : 0);
  Attempt attempt{*made.module,
                  exact ? made.ExactArguments() : made.Arguments(),
                  backend,
                  *backends_[backend],
                  ProfileOf(backend),
                  state,
                  nullptr,
                  {},
                  {}};
  BackendRecord result = RunAndJudge(attempt, record);
  result.exact = exact;
  bool ran = result.outcome == CaseOutcome::kPass || result.outcome == CaseOutcome::kMistrusted ||
             result.outcome == CaseOutcome::kInconclusive;
  bool repeatable = attempt.backend.Describe().deterministic && attempt.executable != nullptr;
  if (ran && record.repeated && repeatable) {
    result = Repeat(attempt, std::move(result));
  }
  // A bound that decides nothing: inputs on which every legal order gives the same bits decide most
  // of these.
  if (result.outcome == CaseOutcome::kInconclusive && !exact && attempt.executable != nullptr) {
    state.exact.store(1);
    attempt.arguments = made.ExactArguments();
    BackendRecord second = RunAndJudge(attempt, record);
    second.exact = true;
    bool decided = second.outcome == CaseOutcome::kPass || second.outcome == CaseOutcome::kFinding;
    second.rescued = decided;
    if (decided) return second;
  }
  return result;
}

CaseRecord CaseRunner::Run(int64_t index, WorkerState& state) {
  CaseRecord record;
  record.index = index;
  state.phase.store(static_cast<uint8_t>(CasePhase::kGenerate));
  Case made;
  {
    Clock clock(record.seconds.generate);
    made = GenerateCase(options_.seed, static_cast<uint64_t>(index), options_.generator);
  }
  record.instructions = made.module->InstructionCount();
  record.theme = made.theme;
  record.repeated =
      options_.repeat_every > 0 && index % options_.repeat_every == options_.repeat_every - 1;
  for (size_t i = 0; i < backends_.size(); ++i) {
    record.backends.push_back(RunOn(made, i, false, record, state));
  }
  state.phase.store(static_cast<uint8_t>(CasePhase::kIdle));
  return record;
}

ConfirmRecord CaseRunner::Confirm(int64_t index, size_t backend, bool exact, int64_t runs,
                                  WorkerState& state) {
  ConfirmRecord confirm;
  Case made = GenerateCase(options_.seed, static_cast<uint64_t>(index), options_.generator);
  confirm.instructions = made.module->InstructionCount();
  CaseRecord ignored;
  ignored.repeated = true;
  for (int64_t i = 0; i < runs; ++i) {
    BackendRecord record = RunOn(made, backend, exact, ignored, state);
    ++confirm.runs;
    if (record.outcome != CaseOutcome::kFinding) continue;
    ++confirm.fails;
    confirm.record = record;
  }
  if (!exact && HasFloats(*made.module)) {
    ignored.repeated = false;
    BackendRecord record = RunOn(made, backend, true, ignored, state);
    confirm.exact =
        record.outcome == CaseOutcome::kFinding ? "fail" : std::string(Name(record.outcome));
  }
  state.phase.store(static_cast<uint8_t>(CasePhase::kIdle));
  return confirm;
}

Finding CaseRunner::MakeFinding(int64_t index, size_t backend, bool exact) const {
  Case made = GenerateCase(options_.seed, static_cast<uint64_t>(index), options_.generator);
  Finding finding;
  finding.backend = backends_[backend]->Describe().name;
  finding.options = options_.compile;
  finding.profile = std::string(ProfileOf(backend).name());
  finding.seed = options_.seed;
  finding.index = index;
  finding.module_text = WriteModule(*made.module);
  finding.inputs = exact ? std::move(made.exact_inputs) : std::move(made.inputs);
  return finding;
}

// ---- Wire form.

namespace {

nlohmann::json Encode(const BackendRecord& record) {
  return {{"outcome", static_cast<int>(record.outcome)},
          {"kind", static_cast<int>(record.kind)},
          {"phase", static_cast<int>(record.phase)},
          {"exact", record.exact},
          {"rescued", record.rescued},
          {"text", record.text}};
}

BackendRecord DecodeBackend(const nlohmann::json& json) {
  BackendRecord record;
  record.outcome = static_cast<CaseOutcome>(json.value("outcome", 0));
  record.kind = static_cast<FindingKind>(json.value("kind", 0));
  record.phase = static_cast<CasePhase>(json.value("phase", 0));
  record.exact = json.value("exact", false);
  record.rescued = json.value("rescued", false);
  record.text = json.value("text", "");
  return record;
}

}  // namespace

nlohmann::json CaseRecord::ToJson() const {
  nlohmann::json json = {{"index", index},
                         {"instructions", instructions},
                         {"theme", static_cast<int>(theme)},
                         {"seconds",
                          {seconds.generate, seconds.oracle, seconds.passes, seconds.code,
                           seconds.run, seconds.judge}},
                         {"repeated", repeated}};
  json["rules"] = rules;
  json["backends"] = nlohmann::json::array();
  for (const BackendRecord& record : backends) json["backends"].push_back(Encode(record));
  return json;
}

CaseRecord CaseRecord::FromJson(const nlohmann::json& json) {
  CaseRecord record;
  record.index = json.value("index", int64_t{-1});
  record.instructions = json.value("instructions", int64_t{0});
  record.theme = static_cast<Theme>(json.value("theme", 0));
  record.repeated = json.value("repeated", false);
  std::vector<double> seconds = json.value("seconds", std::vector<double>(6));
  seconds.resize(6);
  record.seconds = {seconds[0], seconds[1], seconds[2], seconds[3], seconds[4], seconds[5]};
  record.rules = json.value("rules", std::map<std::string, int64_t>());
  for (const nlohmann::json& backend : json.value("backends", nlohmann::json::array())) {
    record.backends.push_back(DecodeBackend(backend));
  }
  return record;
}

nlohmann::json ConfirmRecord::ToJson() const {
  return {{"runs", runs},
          {"fails", fails},
          {"record", Encode(record)},
          {"exact", exact},
          {"instructions", instructions}};
}

ConfirmRecord ConfirmRecord::FromJson(const nlohmann::json& json) {
  ConfirmRecord confirm;
  confirm.runs = json.value("runs", int64_t{0});
  confirm.fails = json.value("fails", int64_t{0});
  confirm.record = DecodeBackend(json.value("record", nlohmann::json::object()));
  confirm.exact = json.value("exact", "");
  confirm.instructions = json.value("instructions", int64_t{0});
  return confirm;
}

}  // namespace assay
