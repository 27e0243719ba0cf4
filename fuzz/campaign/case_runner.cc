// Generates a case, has it checked on every backend, and turns the results into records.
#include "fuzz/campaign/case_runner.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "fuzz/generator/input_sets.h"
#include "fuzz/triage/notable.h"
#include "fuzz/triage/signature.h"
#include "nlohmann/json.hpp"
#include "spec/base/clock.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"
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

BackendRecord CaseRunner::RunOn(const Case& made, const CaseKey& key, int64_t more_sets,
                                CaseRecord& record, WorkerState& state) {
  state.backend.store(static_cast<uint8_t>(key.backend));
  state.exact.store(key.exact ? 1 : 0);
  state.set.store(key.set);
  CompileOptions compile = options_.compile;
  for (const auto& [name, value] : key.flags) compile.flags[name] = value;
  const CheckSubject subject{oracle_, *backends_[key.backend], ProfileOf(key.backend),
                             compile, compile.limits,          options_.oracle_steps};
  const bool repeat = record.repeated && subject.backend.Describe().deterministic;
  const std::vector<Literal> set =
      key.exact ? std::vector<Literal>()
                : InputSet(made, options_.seed, static_cast<uint64_t>(key.index), key.set);
  Checker checker(subject, key.exact ? CheckCase{*made.module, {made.ExactArguments()}}
                                     : CheckCase::Of(*made.module, set));
  checker.NotePhaseIn(&state.phase);
  CheckRequest request;
  if (repeat) request.repeats = request.compile_every = options_.repeats;
  const CheckResult first = checker.Check(request);
  AddSeconds(first.seconds, record.seconds);
  for (const Decision& decision : first.decisions) {
    if (decision.taken) ++record.rules[decision.rule];
  }
  BackendRecord result = RecordOf(first.outcome, key.exact);
  result.set = key.set;
  if (IsFinding(result.kind) || key.exact || checker.executable() == nullptr) return result;
  // A bound that decides nothing: inputs on which every legal order gives the same bits decide most
  // of these.
  if (result.kind == Outcome::kInconclusive) {
    state.exact.store(1);
    const CheckResult again = checker.CheckAgain({made.ExactArguments()});
    AddSeconds(again.seconds, record.seconds);
    BackendRecord second = RecordOf(again.outcome, /*exact=*/true);
    second.rescued = second.kind == Outcome::kPassed || IsFinding(second.kind);
    if (second.rescued) result = second;
    state.exact.store(0);
  }
  if (IsFinding(result.kind)) return result;
  const BackendRecord other = RunMoreSets(made, key.index, more_sets, checker, record, state);
  if (IsFinding(other.kind)) return other;
  // A set that shows something speaks for the program, whatever the others leave open.
  const bool says_more = other.kind == Outcome::kPassed && result.kind != Outcome::kPassed;
  return says_more ? other : result;
}

// The first failure, or one of the sets that pass; otherwise inconclusive.
BackendRecord CaseRunner::RunMoreSets(const Case& made, int64_t index, int64_t sets,
                                      Checker& checker, CaseRecord& record, WorkerState& state) {
  BackendRecord best;
  best.kind = Outcome::kInconclusive;
  for (int64_t set = 1; set < sets; ++set) {
    state.set.store(set);
    const std::vector<Literal> inputs =
        InputSet(made, options_.seed, static_cast<uint64_t>(index), set);
    std::vector<const Literal*> arguments;
    for (const Literal& input : inputs) arguments.push_back(&input);
    const CheckResult result = checker.CheckAgain({arguments});
    AddSeconds(result.seconds, record.seconds);
    BackendRecord found = RecordOf(result.outcome, /*exact=*/false);
    found.set = set;
    if (IsFinding(found.kind)) return found;
    if (found.kind == Outcome::kPassed) best = found;
  }
  return best;
}

BackendRecord CaseRunner::RunScreened(const Case& made, const CaseKey& key, CaseRecord& record,
                                      WorkerState& state) {
  constexpr int64_t kOutOfTen = 7;
  const bool screens = !options_.screening.empty() && !record.repeated &&
                       backends_[key.backend]->Describe().dumps_passes &&
                       key.index % 10 < kOutOfTen;
  if (screens) {
    ++record.screened;
    CaseKey cheap = key;
    cheap.flags = options_.screening;
    BackendRecord first = RunOn(made, cheap, options_.input_sets, record, state);
    if (!IsFinding(first.kind)) return first;
  }
  BackendRecord result = RunOn(made, key, options_.input_sets, record, state);
  if (screens && !IsFinding(result.kind)) ++record.screened_only;
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
    record.backends.push_back(RunScreened(made, {index, i}, record, state));
  }
  state.phase.store(Phase::kIdle);
  return record;
}

ConfirmRecord CaseRunner::Confirm(const CaseKey& key, int64_t runs, WorkerState& state) {
  ConfirmRecord confirm;
  Case made = GenerateCase(options_.seed, static_cast<uint64_t>(key.index), options_.generator);
  confirm.instructions = made.module->InstructionCount();
  CaseRecord ignored;
  for (int64_t i = 0; i < runs; ++i) {
    // Each repetition compiles once more, which costs little in this process alone.
    ignored.repeated = i == 0 || backends_[key.backend]->Describe().in_process;
    BackendRecord record = RunOn(made, key, 0, ignored, state);
    ++confirm.runs;
    if (!IsFinding(record.kind)) continue;
    ++confirm.fails;
    confirm.record = record;
  }
  if (!key.exact && HasFloats(*made.module)) {
    ignored.repeated = false;
    CaseKey exact = key;
    exact.exact = true;
    BackendRecord record = RunOn(made, exact, 0, ignored, state);
    confirm.exact = IsFinding(record.kind) ? "fail" : std::string(Name(record.kind));
  }
  if (confirm.fails == confirm.runs) Sign(MakeFinding(key), key.backend, confirm);
  state.phase.store(Phase::kIdle);
  return confirm;
}

// The signature of a program that fails always, and of what shows when its bug is switched off.
void CaseRunner::Sign(const Finding& finding, size_t backend, ConfirmRecord& confirm) {
  const Outcome::Kind kind = confirm.record.kind;
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(finding.module_text);
  absl::StatusOr<const Profile*> profile = Profile::Find(finding.profile);
  if (!module.ok() || !profile.ok()) return;
  auto sign = [&](const CompileOptions& options) -> std::optional<Signature> {
    const CheckSubject subject{oracle_, *backends_[backend], **profile,
                               options, options.limits,      options_.oracle_steps};
    const Outcome outcome = CheckIsolated(subject, CheckCase::Of(**module, finding.inputs)).outcome;
    if (!outcome.Fails(kind)) return std::nullopt;
    return SignatureOf(subject, **module, finding.inputs, outcome);
  };
  if (kind == Outcome::kWrong && !backends_[backend]->Describe().in_process) {
    const CheckSubject subject{oracle_,         *backends_[backend],    **profile,
                               finding.options, finding.options.limits, options_.oracle_steps};
    confirm.notable = CheckAndNote(subject, **module, finding.inputs).notable;
    if (!confirm.notable.empty()) {
      confirm.signature = StrCat("notable: ", confirm.notable);
      return;
    }
  }
  const std::optional<Signature> first = sign(finding.options);
  if (!first.has_value()) return;
  confirm.signature = first->text;
  if (first->unmasking.empty()) return;
  CompileOptions options = finding.options;
  for (const auto& [name, value] : first->unmasking) options.flags[name] = value;
  const std::optional<Signature> behind = sign(options);
  // Another pass may make the same mistake when the first one may not.
  if (!behind.has_value() || behind->text == first->text) return;
  confirm.unmasking = first->unmasking;
  confirm.behind = behind->text;
}

Finding CaseRunner::MakeFinding(const CaseKey& key) const {
  Case made = GenerateCase(options_.seed, static_cast<uint64_t>(key.index), options_.generator);
  Finding finding;
  finding.backend = backends_[key.backend]->Describe().name;
  finding.options = options_.compile;
  for (const auto& [name, value] : key.flags) finding.options.flags[name] = value;
  finding.profile = std::string(ProfileOf(key.backend).name());
  finding.seed = options_.seed;
  finding.index = key.index;
  finding.input_set = key.exact ? 0 : key.set;
  finding.module_text = WriteModule(*made.module);
  finding.inputs = key.exact
                       ? std::move(made.exact_inputs)
                       : InputSet(made, options_.seed, static_cast<uint64_t>(key.index), key.set);
  return finding;
}

namespace {

nlohmann::json Encode(const BackendRecord& record) {
  return {{"kind", Name(record.kind)}, {"phase", Name(record.phase)}, {"exact", record.exact},
          {"set", record.set},         {"rescued", record.rescued},   {"text", record.text}};
}

BackendRecord DecodeBackend(const nlohmann::json& json) {
  BackendRecord record;
  record.kind = OutcomeKindFromName(json.value("kind", "")).value_or(Outcome::kNotRun);
  record.phase = PhaseFromName(json.value("phase", "")).value_or(Phase::kIdle);
  record.exact = json.value("exact", false);
  record.set = json.value("set", int64_t{0});
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
                         {"screened", screened},
                         {"screened_only", screened_only},
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
  record.screened = json.value("screened", int64_t{0});
  record.screened_only = json.value("screened_only", int64_t{0});
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
          {"instructions", instructions},
          {"signature", signature},
          {"unmasking", unmasking},
          {"behind", behind},
          {"notable", notable}};
}

nlohmann::json CaseKey::ToJson() const {
  return {{"index", index}, {"backend", backend}, {"exact", exact}, {"set", set}, {"flags", flags}};
}

CaseKey CaseKey::FromJson(const nlohmann::json& json) {
  CaseKey key;
  key.index = json.value("index", int64_t{0});
  key.backend = json.value("backend", size_t{0});
  key.exact = json.value("exact", false);
  key.set = json.value("set", int64_t{0});
  key.flags = json.value("flags", key.flags);
  return key;
}

ConfirmRecord ConfirmRecord::FromJson(const nlohmann::json& json) {
  ConfirmRecord confirm;
  confirm.runs = json.value("runs", int64_t{0});
  confirm.fails = json.value("fails", int64_t{0});
  confirm.record = DecodeBackend(json.value("record", nlohmann::json::object()));
  confirm.exact = json.value("exact", "");
  confirm.instructions = json.value("instructions", int64_t{0});
  confirm.signature = json.value("signature", "");
  confirm.unmasking = json.value("unmasking", confirm.unmasking);
  confirm.behind = json.value("behind", "");
  confirm.notable = json.value("notable", "");
  return confirm;
}

}  // namespace assay
