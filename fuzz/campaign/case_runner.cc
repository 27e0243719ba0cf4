// Generates a case, has it checked on every backend, and turns the results into records.
#include "fuzz/campaign/case_runner.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "fuzz/choices.h"
#include "fuzz/generator/input_sets.h"
#include "fuzz/opinions/far_off.h"
#include "fuzz/opinions/notable.h"
#include "fuzz/reduce/edit.h"
#include "nlohmann/json.hpp"
#include "spec/base/clock.h"
#include "spec/base/strings.h"
#include "spec/text/writer.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

// So many of a hundred programs of this size are compiled as users do at first (CheckPolicy).
double PercentAsUsersDo(int64_t screened_percent, int64_t instructions) {
  using Policy = CheckPolicy;
  const auto all = static_cast<double>(100 - screened_percent);
  const double of_short = std::min(100.0, Policy::kTimesShort * all);
  const double of_others = (all - Policy::kShareOfShort * of_short) / (1 - Policy::kShareOfShort);
  const double of_middle = std::min(100.0, Policy::kTimesMiddle * of_others);
  const double of_long =
      (of_others - Policy::kShareOfMiddle * of_middle) / (1 - Policy::kShareOfMiddle);
  return instructions <= Policy::kShortProgram    ? of_short
         : instructions <= Policy::kMiddleProgram ? of_middle
                                                  : of_long;
}

// More inputs for an executable elsewhere shall not cost more than another program would, of which
// this process computes all that is not in the other one: oracle and judge.
bool HasTimeLeft(const Backend& backend, std::clock_t begun) {
  constexpr double kMostSeconds = 0.01;
  return backend.Describe().in_process ||
         static_cast<double>(std::clock() - begun) < kMostSeconds * CLOCKS_PER_SEC;
}

// If compilation is cheap, the oracle on large inputs costs as much as another program.
bool PaysAgain(const Backend& backend, const Case& made) {
  constexpr int64_t kMostElements = 512;
  int64_t elements = 0;
  for (const Literal& input : made.inputs) elements += input.element_count();
  return !backend.Describe().in_process || elements <= kMostElements;
}

void AddSeconds(const CheckSeconds& seconds, StageSeconds& stages) {
  stages.oracle += seconds.oracle;
  stages.passes += seconds.passes;
  stages.code += seconds.compile - seconds.passes;
  stages.run += seconds.run;
  stages.judge += seconds.judge;
}

}  // namespace

namespace {

// Our own backend makes the code of small programs in a way that LLVM has no part in, leaves out
// passes that do not pay on CPUs, and has kernels of its own for what passes could write in other
// ops. Of so many programs some go another way, which would hardly be tried otherwise: each way
// takes the programs of a slot.
constexpr int64_t kOtherWayEvery = 16;

struct OtherWayOption {
  int64_t slot;
  std::string_view option;
  std::string_view value;
  int64_t drawn = 0;  // above 0: instead of the value, a number below this, from the case's own
};
constexpr OtherWayOption kOtherWays[] = {
    {1, "prefix", "", 64},        // the first of the passes alone
    {3, "verify", "on"},          // the module is verified after each pass, buffers are checked
    {5, "without", "", 1 << 20},  // one of the passes is left out
    {7, "passes", "all"},        {9, "memory_limit", "least"},  // what can be computed again is
    {11, "refuse", "library"},   {15, "direct", "off"},
};

std::map<std::string, std::string> OtherWay(const std::string& backend, int64_t index) {
  if (backend.rfind("cpu", 0) != 0) return {};
  for (const auto& [slot, option, value, drawn] : kOtherWays) {
    if (index % kOtherWayEvery != slot || backend.find(StrCat(option, "=")) != std::string::npos) {
      continue;
    }
    // The multiplier of splitmix64: neighbours differ in all bits.
    const uint64_t mixed = static_cast<uint64_t>(index) * 0x9E3779B97F4A7C15u >> 32;
    return {{std::string(option),
             drawn == 0 ? std::string(value) : StrCat(mixed % static_cast<uint64_t>(drawn))}};
  }
  return {};
}

}  // namespace

const Profile& CaseRunner::ProfileOf(const CaseKey& key) const {
  const Profile* profile = backends_[key.backend]->Describe().profile;
  if (!options_.profile.empty()) {
    absl::StatusOr<const Profile*> found = Profile::Find(options_.profile);
    if (found.ok()) profile = *found;
  }
  if (profile == nullptr) profile = &Profile::Xla();
  return key.by_licence ? profile->AsWritten() : *profile;
}

CompileOptions CaseRunner::OptionsFor(const CaseKey& key) const {
  CompileOptions compile = options_.compile;
  compile.limits.backtraces = false;  // triage asks what dies where
  const std::string& name = backends_[key.backend]->Describe().name;
  compile.flags.merge(OtherWay(name, key.index));
  for (const auto& [flag, value] : key.flags) compile.flags[flag] = value;
  return compile;
}

CheckSubject CaseRunner::SubjectOf(const CaseKey& key, const CompileOptions& compile) const {
  return {oracle_, *backends_[key.backend], ProfileOf(key),
          compile, compile.limits,          options_.oracle_steps};
}

CompileOptions CaseRunner::Quick(CompileOptions compile, const Backend& backend) const {
  if (!backend.Describe().in_process) {
    compile.limits.seconds = std::min(compile.limits.seconds, CheckPolicy::kQuickSeconds);
  }
  return compile;
}

BackendRecord CaseRunner::RunOn(Backend& backend, const Case& made, const CaseKey& key,
                                const MoreSets& more, CaseRecord& record, WorkerState& state) {
  state.backend.store(static_cast<uint8_t>(key.backend));
  state.exact.store(key.exact ? 1 : 0);
  state.set.store(key.set);
  const CompileOptions compile = Quick(OptionsFor(key), backend);
  const CheckSubject subject{oracle_, backend,        ProfileOf(key),
                             compile, compile.limits, options_.oracle_steps};
  const bool repeat =
      record.repeated && subject.backend.Describe().deterministic && !DrawsNumbers(*made.module);
  const std::clock_t begun = std::clock();
  std::vector<Literal> drawn;
  Checker checker(subject, key.exact ? CheckCase::OfPointers(*made.module, made.ExactArguments())
                                     : CaseOf(made, key.index, key.set, more, drawn));
  checker.NotePhaseIn(&state.phase);
  CheckRequest request;
  if (repeat) request.repeats = request.compile_every = options_.repeats;
  const CheckResult first = checker.Check(request);
  AddSeconds(first.seconds, record.seconds);
  for (const Decision& decision : first.decisions) {
    if (decision.taken) ++record.rules[decision.rule];
  }
  BackendRecord result = RecordOfRun(first.outcome, checker, key);
  if (IsFinding(result.kind) || key.exact || checker.executable() == nullptr) return result;
  const std::optional<BackendRecord> far = FarOffOf(checker, result);
  // A bound that decides nothing: inputs on which every legal order gives the same bits decide most
  // of these.
  if (result.kind == Outcome::kInconclusive && HasTimeLeft(backend, begun)) {
    state.exact.store(1);
    const CheckResult again =
        checker.CheckAgain(CheckCase::OfPointers(*made.module, made.ExactArguments()).arguments);
    AddSeconds(again.seconds, record.seconds);
    BackendRecord second = RecordOf(again.outcome, /*exact=*/true);
    second.rescued = second.kind == Outcome::kPassed || IsFinding(second.kind);
    if (second.rescued) result = second;
    state.exact.store(0);
  }
  if (IsFinding(result.kind)) return result;
  if (!HasTimeLeft(backend, begun) || !PaysAgain(backend, made)) return far.value_or(result);
  const BackendRecord other = RunMoreSets(made, key.index, more, checker, record, state);
  if (IsFinding(other.kind) && other.notable.empty()) return other;
  if (far.has_value()) return *far;
  if (IsFinding(other.kind)) return other;
  // A set that shows something speaks for the program, whatever the others leave open.
  const bool says_more = other.kind == Outcome::kPassed && result.kind != Outcome::kPassed;
  return says_more ? other : result;
}

CheckCase CaseRunner::CaseOf(const Case& made, int64_t index, int64_t set, const MoreSets& more,
                             std::vector<Literal>& drawn) const {
  if (more.made != nullptr && set < static_cast<int64_t>(more.made->size())) {
    return CheckCase::Of(*made.module, (*more.made)[static_cast<size_t>(set)]);
  }
  drawn = InputSet(made, options_.seed, static_cast<uint64_t>(index), set);
  return CheckCase::Of(*made.module, drawn);
}

BackendRecord CaseRunner::RecordOfRun(const Outcome& outcome, const Checker& checker,
                                      const CaseKey& key) {
  BackendRecord record = RecordOf(outcome, key.exact);
  record.set = key.set;
  if (record.kind == Outcome::kWrong && !backends_[key.backend]->Describe().in_process) {
    record.notable = NotableDifference(checker.expectation(), checker.answer());
  }
  return record;
}

BackendRecord CaseRunner::RunMoreSets(const Case& made, int64_t index, const MoreSets& more,
                                      Checker& checker, CaseRecord& record, WorkerState& state) {
  BackendRecord best;
  best.kind = Outcome::kInconclusive;
  std::optional<BackendRecord> far;
  const std::clock_t begun = std::clock();
  for (int64_t set = 1; set < more.count && HasTimeLeft(*backends_[0], begun); ++set) {
    state.set.store(set);
    std::vector<Literal> drawn;
    const CheckResult result = checker.CheckAgain(CaseOf(made, index, set, more, drawn).arguments);
    AddSeconds(result.seconds, record.seconds);
    const BackendRecord found = RecordOfRun(result.outcome, checker, {.index = index, .set = set});
    if (IsFinding(found.kind)) return found;
    if (found.kind == Outcome::kPassed) best = found;
    if (!far.has_value()) far = FarOffOf(checker, found);
  }
  return far.value_or(best);
}

std::optional<BackendRecord> CaseRunner::FarOffOf(const Checker& checker,
                                                  const BackendRecord& passed) const {
  const CheckSubject& subject = checker.subject();
  const CheckCase& run = checker.check_case();
  const bool is_right = passed.kind == Outcome::kPassed || passed.kind == Outcome::kMistrusted;
  const bool is_asked = options_.notable && is_right &&
                        &subject.profile.AsWritten() != &subject.profile &&
                        !subject.backend.Describe().in_process && run.arguments.size() == 1 &&
                        !DrawsNumbers(run.module);
  if (!is_asked) return std::nullopt;
  if (IsNearPlain(checker.expectation(), checker.answer())) return std::nullopt;
  Limits limits = subject.limits;
  limits.steps = options_.oracle_steps;
  const absl::StatusOr<Expectation> as_written =
      oracle_.Expect(run.module, run.arguments[0], subject.profile.AsWritten(), limits);
  if (!as_written.ok()) return std::nullopt;
  BackendRecord far = passed;
  far.notable = FarOff(*as_written, checker.answer());
  if (far.notable.empty()) return std::nullopt;
  far.kind = Outcome::kWrong;
  far.text = DescribeFailure(*as_written, checker.answer(), Judge(*as_written, checker.answer()));
  return far;
}

bool CaseRunner::IsRepeated(int64_t index) const {
  return options_.repeat_every > 0 && index % options_.repeat_every == options_.repeat_every - 1;
}

bool CaseRunner::IsScreened(const CaseKey& key, int64_t instructions) const {
  if (options_.screening.empty() || IsRepeated(key.index)) return false;
  if (!backends_[key.backend]->Describe().dumps_passes) return false;
  // Drawn from the number alone, and apart from what the generator makes of it.
  constexpr uint64_t kSalt = 0x5c4ee4;
  constexpr uint64_t kParts = 10000;
  const uint64_t drawn = MixSeeds(kSalt, static_cast<uint64_t>(key.index)) % kParts;
  return static_cast<double>(drawn) * 100 / kParts >=
         PercentAsUsersDo(options_.screened_percent, instructions) - 1e-9;
}

bool CaseRunner::IsScreened(const CaseKey& key) const {
  const Case made =
      GenerateCase(options_.seed, static_cast<uint64_t>(key.index), options_.generator);
  return IsScreened(key, made.module->InstructionCount());
}

BackendRecord CaseRunner::RunScreened(Prepared& prepared, const CaseKey& key, WorkerState& state) {
  const bool screens = IsScreened(key, prepared.record.instructions);
  Backend& alone = *backends_[key.backend];
  const bool is_cheap = screens || prepared.together != nullptr;
  if (is_cheap) {
    ++prepared.record.screened;
    CaseKey cheap = key;
    if (screens) cheap.flags = options_.screening;
    Backend& backend = prepared.together != nullptr ? *prepared.together : alone;
    BackendRecord first = RunOn(backend, prepared.made, cheap, {options_.input_sets, prepared.sets},
                                prepared.record, state);
    first.screened = IsFinding(first.kind);
    if (first.screened) first.pack = prepared.others;
    return first;
  }
  return RunOn(alone, prepared.made, key, {options_.input_sets}, prepared.record, state);
}

CaseRunner::Prepared CaseRunner::Prepare(int64_t index, WorkerState& state) const {
  Prepared prepared;
  CaseRecord& record = prepared.record;
  record.index = index;
  state.Begin(index);
  state.phase.store(Phase::kGenerate);
  {
    ScopedTimer timer(record.seconds.generate);
    prepared.made = GenerateCase(options_.seed, static_cast<uint64_t>(index), options_.generator);
  }
  record.instructions = prepared.made.module->InstructionCount();
  record.theme = prepared.made.theme;
  record.repeated = IsRepeated(index);
  if (absl::Status status = Verify(*prepared.made.module); !status.ok()) {
    record.illegal = std::string(ToStd(status.message()));
  }
  constexpr int64_t kRunOneOf = 4;
  record.avoided =
      record.illegal.empty() && index % kRunOneOf != 0 &&
      std::any_of(options_.known.begin(), options_.known.end(),
                  [&prepared](const KnownBug& bug) { return MayShow(bug, *prepared.made.module); });
  state.phase.store(Phase::kIdle);
  return prepared;
}

void CaseRunner::RunPack(absl::Span<Prepared* const> members, bool screened) {
  // A program that hangs is not asked again, and no other part of its pack.
  constexpr double kMostSecondsToHalve = 5;
  double longest = 0;
  const auto is_taken = [&](size_t first, size_t count) {
    if (longest > kMostSecondsToHalve) return false;
    const double begun = Now();
    const bool taken = RunTogether(members.subspan(first, count), screened);
    if (!taken) longest = std::max(longest, Now() - begun);
    return taken;
  };
  if (members.size() > 1 && !is_taken(0, members.size())) AskInHalves(members.size(), is_taken);
}

bool CaseRunner::RunTogether(absl::Span<Prepared* const> members, bool screened) {
  std::vector<PackMember> packed;
  for (const Prepared* prepared : members) {
    PackMember member{prepared->made.module.get(), {}};
    for (int64_t set = 0; set < std::max<int64_t>(1, options_.input_sets); ++set) {
      member.sets.push_back(InputSet(prepared->made, options_.seed,
                                     static_cast<uint64_t>(prepared->record.index), set));
    }
    packed.push_back(std::move(member));
  }
  CompileOptions compile = Quick(OptionsFor({}), *backends_[0]);
  if (screened) compile.flags.insert(options_.screening.begin(), options_.screening.end());
  std::unique_ptr<Pack> pack = Pack::Run(*backends_[0], compile, std::move(packed));
  if (pack == nullptr) return false;
  for (size_t i = 0; i < members.size(); ++i) {
    members[i]->record.seconds.code += pack->compile_seconds();
    members[i]->record.seconds.run += pack->run_seconds();
    members[i]->together = &pack->BackendOf(i);
    members[i]->sets = &pack->SetsOf(i);
    for (size_t k = 0; k < members.size(); ++k) {
      if (k != i) members[i]->others.push_back(members[k]->record.index);
    }
  }
  members[0]->pack = std::move(pack);
  return true;
}

void CaseRunner::RunPacks(std::vector<Prepared>& cases, WorkerState& state) {
  if (options_.screening.empty() || backends_.size() != 1) return;
  state.backend.store(0);
  state.phase.store(Phase::kCompile);
  const auto begin_pack = [&state](size_t members) {
    // Most members are quick, and one that hangs shall be known for it soon.
    constexpr double kAsIfFewer = 3;
    state.Begin(-1, std::max(2.0, static_cast<double>(members) / kAsIfFewer));
  };
  for (const bool screened : {true, false}) {
    std::vector<Prepared*> members;
    for (Prepared& prepared : cases) {
      const CaseRecord& record = prepared.record;
      const bool fits = record.IsRun() && !record.repeated &&
                        record.instructions <= CheckPolicy::kInstructionsInPack &&
                        CanBeJoined(*prepared.made.module);
      if (!fits || IsScreened({record.index, 0}, record.instructions) != screened) continue;
      members.push_back(&prepared);
      if (members.size() < CheckPolicy::kMembersOfPack) continue;
      begin_pack(members.size());
      RunPack(members, screened);
      members.clear();
    }
    begin_pack(members.size());
    RunPack(members, screened);
  }
  state.phase.store(Phase::kIdle);
}

void WorkerState::Begin(int64_t piece, double as_long_as) {
  index.store(piece);
  times.store(as_long_as);
  begun.store(Now());
}

std::vector<CaseRecord> CaseRunner::Run(const std::vector<int64_t>& indices, WorkerState& state) {
  std::vector<Prepared> cases;
  for (const int64_t index : indices) cases.push_back(Prepare(index, state));
  RunPacks(cases, state);
  std::vector<CaseRecord> records;
  for (Prepared& prepared : cases) {
    const int64_t index = prepared.record.index;
    state.Begin(index);
    if (prepared.record.IsRun()) {
      for (size_t i = 0; i < backends_.size(); ++i) {
        prepared.record.backends.push_back(RunScreened(prepared, {index, i}, state));
      }
    }
    records.push_back(prepared.record);
    state.phase.store(Phase::kIdle);
  }
  state.index.store(-1);
  return records;
}

Case CaseRunner::Make(const CaseKey& key) const {
  const auto make_one = [&](int64_t index) {
    const auto number = static_cast<uint64_t>(index);
    Case made = GenerateCase(options_.seed, number, options_.generator);
    made.inputs = InputSet(made, options_.seed, number, key.set);
    return made;
  };
  Case made = make_one(key.index);
  if (key.with.empty()) return made;
  std::vector<Case> others;
  std::vector<const Module*> modules = {made.module.get()};
  for (const int64_t index : key.with) {
    others.push_back(make_one(index));
    modules.push_back(others.back().module.get());
    for (auto inputs : {&Case::inputs, &Case::exact_inputs}) {
      std::vector<Literal>& more = others.back().*inputs;
      std::move(more.begin(), more.end(), std::back_inserter(made.*inputs));
    }
  }
  made.module = JoinModules(modules);
  FlattenResult(*made.module);
  return made;
}

Finding CaseRunner::MakeFinding(const CaseKey& key) const {
  Case made = Make(key);
  Finding finding;
  finding.backend = backends_[key.backend]->Describe().name;
  finding.options = OptionsFor(key);
  finding.profile = std::string(ProfileOf(key).name());
  finding.seed = options_.seed;
  finding.index = key.index;
  finding.input_set = key.exact ? 0 : key.set;
  std::vector<Literal> inputs = std::move(key.exact ? made.exact_inputs : made.inputs);
  ReduceCase program{std::move(made.module), std::move(inputs)};
  std::optional<ReduceCase> part = WithOneOutput(program, key.output);
  if (part.has_value()) program = *std::move(part);
  finding.module_text = WriteModule(*program.module);
  finding.inputs = program.inputs;
  return finding;
}

}  // namespace assay
