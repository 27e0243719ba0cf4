// Generates a case, has it checked on every backend, and turns the results into records.
#include "fuzz/campaign/case_runner.h"

#include "absl/strings/str_cat.h"
#include "spec/base/clock.h"
#include "spec/base/strings.h"
#include "spec/text/writer.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

BackendRecord RecordOf(const Outcome& outcome, bool exact) {
  BackendRecord record;
  record.kind = outcome.kind;
  record.phase = outcome.phase;
  record.exact = exact;
  record.text = outcome.reason;
  if (outcome.phase == Phase::kOracle) {
    record.text = StrCat("oracle: ", record.text);
    // A generated program verifies: what the oracle rejects was generated wrongly.
    if (outcome.kind == Outcome::kRejected) record.kind = Outcome::kOurFault;
  }
  // A program without elements in its outputs has run, and shows nothing.
  if (outcome.kind == Outcome::kNothingToJudge) {
    record.kind = Outcome::kMistrusted;
    record.text.clear();
  }
  return record;
}

void AddSeconds(const CheckSeconds& seconds, StageSeconds& stages) {
  stages.oracle += seconds.oracle;
  stages.passes += seconds.passes;
  stages.code += seconds.compile - seconds.passes;
  stages.run += seconds.run;
  stages.judge += seconds.judge;
}

bool HasFloats(const Module& module) {
  for (const Computation* computation : module.computations()) {
    for (const Instruction* instruction : *computation) {
      if (IsFloat(instruction->shape().element_type())) return true;
    }
  }
  return false;
}

}  // namespace

bool IsFinding(Outcome::Kind kind) {
  return (kind >= Outcome::kRejected && kind <= Outcome::kOutOfMemory) ||
         kind == Outcome::kOurFault;
}

StageSeconds& StageSeconds::operator+=(const StageSeconds& other) {
  generate += other.generate;
  oracle += other.oracle;
  passes += other.passes;
  code += other.code;
  run += other.run;
  judge += other.judge;
  return *this;
}

const Profile& CaseRunner::ProfileOf(size_t backend) const {
  if (!options_.profile.empty()) {
    absl::StatusOr<const Profile*> found = Profile::Find(options_.profile);
    if (found.ok()) return **found;
  }
  const Profile* own = backends_[backend]->Describe().profile;
  return own != nullptr ? *own : Profile::Xla();
}

BackendRecord CaseRunner::RunOn(const Case& made, size_t backend, bool exact, CaseRecord& record,
                                WorkerState& state) {
  state.backend.store(static_cast<uint8_t>(backend));
  state.exact.store(exact ? 1 : 0);
  const CheckSubject subject{oracle_,          *backends_[backend],     ProfileOf(backend),
                             options_.compile, options_.compile.limits, options_.oracle_steps};
  const bool repeat = record.repeated && subject.backend.Describe().deterministic;
  Checker checker(subject,
                  {*made.module, {exact ? made.ExactArguments() : made.Arguments()}, {}, {}});
  checker.NotePhaseIn(&state.phase);
  CheckRequest request;
  if (repeat) request.repeats = request.compile_every = options_.repeats;
  const CheckResult first = checker.Check(request);
  AddSeconds(first.seconds, record.seconds);
  for (const Decision& decision : first.decisions) {
    if (decision.taken) ++record.rules[decision.rule];
  }
  BackendRecord result = RecordOf(first.outcome, exact);
  // A bound that decides nothing: inputs on which every legal order gives the same bits decide most
  // of these.
  if (result.kind == Outcome::kInconclusive && !exact && checker.executable() != nullptr) {
    state.exact.store(1);
    const CheckResult again = checker.CheckAgain({made.ExactArguments()});
    AddSeconds(again.seconds, record.seconds);
    BackendRecord second = RecordOf(again.outcome, /*exact=*/true);
    second.rescued = second.kind == Outcome::kPassed || IsFinding(second.kind);
    if (second.rescued) return second;
  }
  return result;
}

CaseRecord CaseRunner::Run(int64_t index, WorkerState& state) {
  CaseRecord record;
  record.index = index;
  state.phase.store(Phase::kGenerate);
  Case made;
  {
    ScopedTimer timer(record.seconds.generate);
    made = GenerateCase(options_.seed, static_cast<uint64_t>(index), options_.generator);
  }
  record.instructions = made.module->InstructionCount();
  record.theme = made.theme;
  record.repeated =
      options_.repeat_every > 0 && index % options_.repeat_every == options_.repeat_every - 1;
  if (absl::Status status = Verify(*made.module); !status.ok()) {
    record.illegal = std::string(ToStd(status.message()));
    state.phase.store(Phase::kIdle);
    return record;
  }
  for (size_t i = 0; i < backends_.size(); ++i) {
    record.backends.push_back(RunOn(made, i, false, record, state));
  }
  state.phase.store(Phase::kIdle);
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
    if (!IsFinding(record.kind)) continue;
    ++confirm.fails;
    confirm.record = record;
  }
  if (!exact && HasFloats(*made.module)) {
    ignored.repeated = false;
    BackendRecord record = RunOn(made, backend, true, ignored, state);
    confirm.exact = IsFinding(record.kind) ? "fail" : std::string(Name(record.kind));
  }
  state.phase.store(Phase::kIdle);
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

namespace {

nlohmann::json Encode(const BackendRecord& record) {
  return {{"kind", Name(record.kind)},
          {"phase", Name(record.phase)},
          {"exact", record.exact},
          {"rescued", record.rescued},
          {"text", record.text}};
}

BackendRecord DecodeBackend(const nlohmann::json& json) {
  BackendRecord record;
  record.kind = OutcomeKindFromName(json.value("kind", "")).value_or(Outcome::kNotRun);
  record.phase = PhaseFromName(json.value("phase", "")).value_or(Phase::kIdle);
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
                         {"repeated", repeated},
                         {"illegal", illegal}};
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
  record.illegal = json.value("illegal", "");
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
