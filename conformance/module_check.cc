// Reads a case, judges what is stored beside it, and has the backend checked.
#include "conformance/module_check.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "conformance/cuts/programs/work.h"
#include "conformance/waivers.h"
#include "spec/backend/initial_values.h"
#include "spec/base/clock.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/numerics/sharpness.h"
#include "spec/ops/collective_groups.h"
#include "spec/process/isolate.h"
#include "spec/process/shared_array.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

// Reading, the oracle, compilation and run may each take the limit of time.
constexpr double kStepsOfACheck = 4;
// And a program that is cut is compiled, run and evaluated several times more.
constexpr double kStepsOfCuts = 40;

int64_t Gigabytes(double bytes) { return static_cast<int64_t>(std::ceil(bytes / 1e9)); }

// Stored results come as leaves: those from `next` on in the shape of the result.
Literal WithShape(const Shape& shape, const std::vector<Literal>& leaves, size_t& next) {
  if (!shape.IsTuple()) return leaves[next++];
  std::vector<Literal> elements;
  for (const Shape& element : shape.elements())
    elements.push_back(WithShape(element, leaves, next));
  return Literal::Tuple(std::move(elements));
}

// The stored results of all devices as one literal, in the shape of what a run gives.
Literal StoredAnswer(const Module& module, const std::vector<Literal>& leaves) {
  RunResult stored;
  for (size_t next = 0; next < leaves.size();) {
    stored.outputs.push_back(WithShape(module.entry()->root()->shape(), leaves, next));
  }
  return Gathered(std::move(stored), /*with_outfeeds=*/false);
}

SubjectResult JudgeStored(const CaseFile& file, const Expectation& expectation,
                          const Literal& answer) {
  SubjectResult result;
  result.subject = "stored";
  result.outcome = OutcomeOfAnswer(expectation, answer);
  if (result.outcome.kind == Outcome::kWrong) result.waived = WaiverOf(file);
  if (!result.waived.empty()) result.outcome.kind = Outcome::kPassed;
  return result;
}

SubjectResult CheckBackend(Checker& checker, const Backend& backend) {
  SubjectResult result;
  result.subject = backend.Describe().name;
  const CheckResult check = checker.Check();
  result.outcome = check.outcome;
  result.compile_seconds = check.seconds.compile;
  result.run_seconds = check.run_seconds;
  return result;
}

// Programs of more instructions are not cut everywhere: that would take long.
constexpr int64_t kMostInstructionsEverywhere = 3000;

bool CanBeCutEverywhere(const Module& module) {
  return module.InstructionCount() <= kMostInstructionsEverywhere &&
         ProductsOf(module) <= kManyProducts;
}

// The way in which the program is to be cut on the backend, beside what the user asked for.
enum class CutWish {
  kNone,
  kOpen,   // its verdict is open
  kWrong,  // it is wrong: cuts say where
  kBlunt,  // it passed by bounds that have room for mistakes that show
};

CutWish WishOf(CutMode mode, const Outcome& outcome, const Expectation& expectation) {
  if (mode == CutMode::kOff) return CutWish::kNone;
  if (outcome.kind == Outcome::kInconclusive) return CutWish::kOpen;
  if (outcome.kind == Outcome::kWrong) return CutWish::kWrong;
  if (!outcome.IsPass()) return CutWish::kNone;
  if (mode != CutMode::kAuto) return CutWish::kOpen;
  return IsSharp(expectation) ? CutWish::kNone : CutWish::kBlunt;
}

// Takes the verdict that cuts give on the backend's answer into its result.
void ApplyCuts(const CutReport& report, SubjectResult& subject) {
  Outcome& outcome = subject.outcome;
  // Nothing was asked of cuts but more than is known, and they could not be made.
  if (outcome.kind != Outcome::kInconclusive && report.elements == 0) return;
  subject.cuts = ToJson(report);
  if (report.verdict == Verdict::kFail) {
    const bool was_wrong = outcome.kind == Outcome::kWrong;
    outcome.reason = was_wrong ? StrCat(outcome.reason, "\n", Describe(report)) : Describe(report);
    outcome.kind = Outcome::kWrong;
  } else if (outcome.kind == Outcome::kInconclusive) {
    const bool is_certified = report.verdict == Verdict::kPass;
    if (is_certified) outcome.kind = Outcome::kPassed;
    outcome.reason = is_certified ? "" : Describe(report);
    if (report.plain.failed == 0 && report.plain.elements > 0)
      outcome.judgement.inconclusive = report.plain.inconclusive;
  } else if (outcome.IsPass() && report.everywhere && report.verdict == Verdict::kInconclusive) {
    outcome.kind = Outcome::kInconclusive;
    outcome.reason = Describe(report);
    outcome.judgement.inconclusive = report.plain.inconclusive;
  }
}

// Applies the report to a stored answer, of which nothing could be captured: what lies inside a
// bound that right values lead to is right, and nothing is said of what does not.
void ApplyCutsToStored(const CutReport& report, SubjectResult& subject) {
  const Judgement& judgement = report.stored;
  if (subject.outcome.kind != Outcome::kInconclusive || report.verdict != Verdict::kPass) return;
  if (judgement.failed > 0 || judgement.elements == 0) return;
  subject.outcome.judgement.inconclusive = judgement.inconclusive;
  const auto open = static_cast<double>(judgement.inconclusive);
  if (open > kMostUndecided * static_cast<double>(judgement.elements)) return;
  subject.outcome.kind = Outcome::kPassed;
  subject.outcome.reason.clear();
}

// `compile` says how many devices there are.
CutSubject SubjectOfCuts(const CheckCase& check_case, CutWish wish, Oracle& oracle,
                         Backend& backend, const CheckOptions& options,
                         const CompileOptions& compile) {
  CutSubject cut{check_case.module, check_case.arguments[0], oracle,
                 backend,           *options.profile,        compile};
  cut.in_pieces = options.cut == CutMode::kPieces;
  cut.has_whole_verdict = wish == CutWish::kBlunt || wish == CutWish::kWrong;
  cut.everywhere = cut.has_whole_verdict && !cut.in_pieces && CanBeCutEverywhere(check_case.module);
  cut.sample = options.sample;
  cut.seed = options.seed;
  cut.other_arguments.assign(check_case.arguments.begin() + 1, check_case.arguments.end());
  return cut;
}

// Cuts as the verdict needs it. A program that passes so, by bounds with room for mistakes that
// show, is cut everywhere, too, if it is not big: that may convict it.
CutReport CutReportOf(CutSubject cut) {
  CutReport report = CheckByCuts(cut);
  if (report.verdict != Verdict::kPass || report.is_sharp || cut.everywhere || cut.in_pieces ||
      !CanBeCutEverywhere(cut.module))
    return report;
  cut.everywhere = true;
  CutReport again = CheckByCuts(cut);
  return again.verdict == Verdict::kFail ? std::move(again) : std::move(report);
}

void CutCase(const CutSubject& cut, std::vector<SubjectResult>& subjects) {
  const CutReport report = CutReportOf(cut);
  for (SubjectResult& subject : subjects) {
    if (subject.subject == "stored") {
      ApplyCutsToStored(report, subject);
    } else {
      ApplyCuts(report, subject);
    }
  }
}

// A wrong answer of another compiler is no failure where it is right for the program without
// initial values that are no identities.
void ExcuseInitialValues(const CheckSubject& subject, const CheckCase& check_case,
                         const Literal& answer, Outcome& outcome) {
  if (!outcome.Fails(Outcome::kWrong) || subject.backend.Describe().in_process) return;
  const std::unique_ptr<Module> other = WithoutInitialValues(check_case.module);
  if (other == nullptr) return;
  const CheckCase without{*other, check_case.arguments, check_case.devices, check_case.infeeds};
  const absl::StatusOr<CaseExpectation> right =
      ExpectOn(subject.oracle, without, subject.profile, subject.limits);
  if (!right.ok() || !OutcomeOfAnswer(right->results, answer).IsPass()) return;
  outcome = MakeOutcome(Outcome::kInconclusive, Phase::kJudge,
                        "the answer leaves out the initial value of a reduction of one element, "
                        "which HLO's documents allow as they ask for an identity there");
}

// The worst of several subjects stands for the module. A stored answer whose verdict is open is no
// reason to doubt a backend that passes by cuts.
bool CountsForModule(const SubjectResult& subject, const std::vector<SubjectResult>& all) {
  const bool is_open_store =
      subject.subject == "stored" && subject.outcome.kind == Outcome::kInconclusive;
  const bool is_certified = !all.back().cuts.is_null() && all.back().outcome.IsPass();
  return !is_open_store || !is_certified;
}

// A result on its way from a child process.
nlohmann::json Encode(const ModuleResult& result) {
  nlohmann::json subjects = nlohmann::json::array();
  for (const SubjectResult& subject : result.subjects) {
    subjects.push_back({{"subject", subject.subject},
                        {"outcome", ToJson(subject.outcome)},
                        {"waived", subject.waived},
                        {"compile_seconds", subject.compile_seconds},
                        {"run_seconds", subject.run_seconds},
                        {"cuts", subject.cuts}});
  }
  return {{"name", result.name},
          {"path", result.path},
          {"outcome", ToJson(result.outcome)},
          {"unsupported", result.unsupported},
          {"instructions", result.instructions},
          {"inputs_generated", result.inputs_generated},
          {"constants_drawn", result.constants_drawn},
          {"inputs_path", result.inputs_path},
          {"oracle_seconds", result.oracle_seconds},
          {"subjects", std::move(subjects)}};
}

ModuleResult DecodeObject(const nlohmann::json& json) {
  ModuleResult result;
  result.name = json.value("name", "");
  result.path = json.value("path", "");
  result.outcome = OutcomeFromJson(json.at("outcome"));
  result.unsupported = json.value("unsupported", std::vector<std::string>());
  result.instructions = json.value("instructions", int64_t{0});
  result.inputs_generated = json.value("inputs_generated", false);
  result.constants_drawn = json.value("constants_drawn", int64_t{0});
  result.inputs_path = json.value("inputs_path", "");
  result.oracle_seconds = json.value("oracle_seconds", 0.0);
  for (const nlohmann::json& entry : json.at("subjects")) {
    SubjectResult& subject = result.subjects.emplace_back();
    subject.subject = entry.value("subject", "");
    subject.outcome = OutcomeFromJson(entry.at("outcome"));
    subject.waived = entry.value("waived", "");
    subject.compile_seconds = entry.value("compile_seconds", 0.0);
    subject.run_seconds = entry.value("run_seconds", 0.0);
    subject.cuts = entry.at("cuts");
  }
  return result;
}

// A child whose memory was trampled on may send anything.
std::optional<ModuleResult> Decode(const std::string& bytes) {
  const nlohmann::json json = nlohmann::json::parse(bytes, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  try {
    return DecodeObject(json);
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

std::string Dump(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// The module, or why nothing can be checked, in `result`.
std::unique_ptr<Module> ReadCase(const CaseFile& file, const CheckOptions& options,
                                 ModuleResult& result) {
  result.name = file.name;
  result.path = file.module_path;
  absl::StatusOr<DrawnModule> read =
      LoadOrDrawCaseModule(file, options.draw_elided ? std::optional(options.seed) : std::nullopt);
  if (!read.ok()) {
    result.outcome =
        MakeOutcome(Outcome::kNotRun, Phase::kRead, std::string(read.status().message()));
    return nullptr;
  }
  std::unique_ptr<Module> module = std::move(read->module);
  result.constants_drawn = read->drawn;
  result.instructions = module->InstructionCount();
  result.unsupported = Unsupported(*module);
  if (result.unsupported.empty()) return module;
  result.outcome = MakeOutcome(Outcome::kUnsupported, Phase::kRead);
  return nullptr;
}

// True if the program is so big that it is judged by cuts alone, and by samples of the arrays that
// they show.
bool IsJudgedBySample(const CheckOptions& options, const Module& module) {
  if (options.cut == CutMode::kOff || options.sample == 0) return false;
  return options.sample > 0 || ProductsOf(module) > kManyProducts;
}

// The expectation for a program that the oracle has not evaluated: every element is open.
CaseExpectation OpenExpectation(const Module& module) {
  CaseExpectation expectation;
  expectation.results.inconclusive =
      "the program is big: it is judged by cuts, on a backend, or whole with --cut off";
  ForEachLeaf(module.entry()->root()->shape(), [&](const Shape& leaf, absl::Span<const int64_t>) {
    expectation.results.leaves.emplace_back();
    expectation.results.leaves.back().plain = Literal(leaf);
  });
  return expectation;
}

// Before anything is allocated: arguments and results of all devices must fit.
absl::Status CheckSizes(const Module& module, const DeviceAssignment& devices,
                        int64_t memory_bytes) {
  const Shape *largest = nullptr, *at = nullptr;
  double bytes = 0;
  const auto add = [&](const Shape& leaf, absl::Span<const int64_t>) {
    if (!leaf.IsArray()) return;
    bytes += static_cast<double>(leaf.ByteSize());
    at = &leaf;
    if (largest == nullptr || largest->ByteSize() < at->ByteSize()) largest = at;
  };
  for (const Instruction* parameter : module.entry()->parameters())
    ForEachLeaf(parameter->shape(), add);
  ForEachLeaf(module.entry()->root()->shape(), add);
  bytes *= static_cast<double>(devices.replicas * devices.partitions);
  if (bytes <= static_cast<double>(memory_bytes)) return absl::OkStatus();
  return MakeError(
      ErrorClass::kOutOfMemory,
      StrCat("arguments and results hold ", Gigabytes(bytes), " GB (", largest->ToString(),
             " is the largest array), the limit is ", Gigabytes(static_cast<double>(memory_bytes)),
             " GB; --max-memory raises it"));
}

// A module with all that it is checked on.
struct ReadyCase {
  std::unique_ptr<Module> module;
  CaseArrays arrays;
  std::vector<std::vector<Literal>> infeeds;

  CheckCase Case() const { return {*module, ArgumentsByDevice(arrays), arrays.devices, infeeds}; }
};

absl::Status ReadArrays(const CaseFile& file, const CheckOptions& options, ReadyCase& ready) {
  ASSAY_ASSIGN_OR_RETURN(
      ready.arrays, LoadArrays(*ready.module, file.arrays_path, options.seed, options.devices));
  if (options.infeed.empty()) return absl::OkStatus();
  ASSAY_ASSIGN_OR_RETURN(ready.infeeds, LoadInfeed(options.infeed, ready.arrays.devices));
  return absl::OkStatus();
}

// Nothing where nothing can be checked; `result` then says why.
std::optional<ReadyCase> Prepare(const CaseFile& file, const CheckOptions& options,
                                 ModuleResult& result) {
  ReadyCase ready{ReadCase(file, options, result), {}, {}};
  if (ready.module == nullptr) return std::nullopt;
  const absl::Status fits =
      CheckSizes(*ready.module, options.devices.value_or(DevicesOf(*ready.module)),
                 options.compile.limits.memory_bytes);
  if (!fits.ok()) {
    result.outcome = OutcomeOf(fits, Phase::kRead);
    result.outcome.kind = Outcome::kUnsupported;
    return std::nullopt;
  }
  if (absl::Status status = ReadArrays(file, options, ready); !status.ok()) {
    result.outcome = MakeOutcome(Outcome::kNotRun, Phase::kRead, std::string(status.message()));
    return std::nullopt;
  }
  result.inputs_generated = ready.arrays.generated;
  return ready;
}

// The oracle refuses the program: often for what it was not told.
Outcome Refused(const absl::Status& why, const Module& module, const CheckOptions& options) {
  Outcome outcome = OutcomeOfOracle(why);
  if (outcome.kind != Outcome::kRejected) return outcome;
  const bool knows_devices = std::any_of(
      module.computations().begin(), module.computations().end(),
      [](const Computation* computation) {
        return std::any_of(
            computation->begin(), computation->end(),
            [](const Instruction* instruction) { return KnowsDevices(instruction->opcode()); });
      });
  if (knows_devices && !options.devices.has_value())
    StrAppend(&outcome.reason, "; --replicas and --partitions say how many devices run it");
  if (module.HasAny({Opcode::kInfeed}) && options.infeed.empty())
    StrAppend(&outcome.reason, "; --infeed names a file with what infeeds take: item0, item1, ...");
  return outcome;
}

}  // namespace

SubjectResult JudgeAnswer(const AnswerToJudge& answer, Oracle& oracle, Backend& backend,
                          const CheckOptions& options) {
  SubjectResult subject;
  subject.subject = backend.Describe().name;
  subject.outcome = OutcomeOfAnswer(answer.expectation, answer.answer);
  const CutWish wish = WishOf(options.cut, subject.outcome, answer.expectation);
  if (wish == CutWish::kNone) return subject;
  CutSubject cut =
      SubjectOfCuts(answer.check_case, wish, oracle, backend, options, options.compile);
  cut.plain = Leaves(answer.answer);
  ApplyCuts(CutReportOf(cut), subject);
  return subject;
}

absl::StatusOr<Expectation> ExpectationOf(const CheckCase& check_case, Oracle& oracle,
                                          const CheckOptions& options) {
  if (IsJudgedBySample(options, check_case.module))
    return OpenExpectation(check_case.module).results;
  ASSAY_ASSIGN_OR_RETURN(CaseExpectation expectation,
                         ExpectOn(oracle, check_case, *options.profile, options.compile.limits));
  return std::move(expectation.results);
}

CheckCase CaseOf(const Module& module, const CaseArrays& arrays) {
  return {module, ArgumentsByDevice(arrays), arrays.devices, {}};
}

ModuleResult CheckModule(const CaseFile& file, Oracle& oracle, Backend* backend,
                         const CheckOptions& given, std::atomic<Phase>* note) {
  ModuleResult result;
  auto enter = [&](Phase phase) {
    if (note != nullptr) note->store(phase);
  };
  enter(Phase::kRead);
  const std::optional<ReadyCase> ready = Prepare(file, given, result);
  if (!ready.has_value()) return result;
  CheckOptions options = given;
  options.compile.limits = LimitsFor(*ready->module, given.compile.limits);
  const Module* module = ready->module.get();
  const CaseArrays* arrays = &ready->arrays;
  result.inputs_path = file.arrays_path;

  enter(Phase::kOracle);
  const CheckCase c = ready->Case();
  const double start = Now();
  const bool is_alone =
      arrays->devices.replicas * arrays->devices.partitions == 1 && c.infeeds.empty();
  const bool is_sampled = is_alone && IsJudgedBySample(options, *module);
  absl::StatusOr<CaseExpectation> expectation =
      is_sampled ? OpenExpectation(*module)
                 : ExpectOn(oracle, c, *options.profile, options.compile.limits);
  result.oracle_seconds = Now() - start;
  if (!expectation.ok()) {
    result.outcome = Refused(expectation.status(), *module, options);
    return result;
  }
  enter(Phase::kJudge);
  if (!arrays->stored.empty()) {
    result.subjects.push_back(
        JudgeStored(file, expectation->results, StoredAnswer(*module, arrays->stored)));
  }
  if (backend != nullptr) {
    const CheckSubject subject{oracle, *backend, *options.profile, options.compile,
                               options.compile.limits};
    Checker checker(subject, c);
    checker.NotePhaseIn(note);
    const bool has_transfers = !c.infeeds.empty() || !expectation->outfeeds.leaves.empty();
    checker.SetExpectation(*std::move(expectation));
    result.subjects.push_back(CheckBackend(checker, *backend));
    const CutWish wish =
        has_transfers ? CutWish::kNone
                      : WishOf(options.cut, result.subjects.back().outcome, checker.expectation());
    if (wish != CutWish::kNone) {
      enter(Phase::kOracle);
      CompileOptions compile = options.compile;
      compile.devices = c.devices;
      CutSubject cut = SubjectOfCuts(c, wish, oracle, *backend, options, compile);
      cut.plain = Leaves(checker.answer());
      cut.stored = Pointers(arrays->stored);
      CutCase(cut, result.subjects);
    }
    if (!has_transfers)
      ExcuseInitialValues(subject, c, checker.answer(), result.subjects.back().outcome);
  }
  if (result.subjects.empty()) {
    result.outcome = MakeOutcome(Outcome::kNothingToJudge, Phase::kJudge,
                                 "there is no stored result, and no backend was asked");
  } else {
    // Each subject says for itself what is wrong with it.
    result.outcome = MakeOutcome(Outcome::kPassed, Phase::kJudge);
  }
  for (const SubjectResult& subject : result.subjects) {
    if (CountsForModule(subject, result.subjects))
      result.outcome.kind = std::max(result.outcome.kind, subject.outcome.kind);
  }
  return result;
}

ModuleResult CheckModuleIsolated(const CaseFile& file, Oracle& oracle,
                                 const BackendMaker& make_backend, const CheckOptions& options) {
  SharedArray<std::atomic<Phase>> phase(1);
  auto in_child = [&]() -> std::string {
    std::unique_ptr<Backend> backend;
    if (make_backend) {
      phase[0].store(Phase::kStart);
      absl::StatusOr<std::unique_ptr<Backend>> made = make_backend();
      if (!made.ok()) {
        ModuleResult result;
        result.name = file.name;
        result.outcome =
            MakeOutcome(Outcome::kSickMachine, Phase::kStart, std::string(made.status().message()));
        return Dump(Encode(result));
      }
      backend = *std::move(made);
    }
    return Dump(Encode(CheckModule(file, oracle, backend.get(), options, &phase[0])));
  };
  const double steps = options.cut == CutMode::kOff ? kStepsOfACheck : kStepsOfCuts;
  const IsolateLimits limits{steps * options.compile.limits.seconds,
                             options.compile.limits.memory_bytes, true};
  const Isolated child = RunIsolated(in_child, limits);
  if (child.ok()) {
    if (std::optional<ModuleResult> result = Decode(child.bytes)) return *std::move(result);
  }
  ModuleResult result;
  result.name = file.name;
  result.path = file.module_path;
  result.outcome = OutcomeOfDeath(child, phase[0].load());
  if (result.outcome.error.has_value()) {
    const bool is_time = *result.outcome.error == ErrorClass::kTimeout;
    StrAppend(&result.outcome.reason, "; ", is_time ? "--timeout" : "--max-memory",
              " raises the limit");
  }
  return result;
}

std::string_view StatusOfCheck(const Outcome& outcome) {
  if (outcome.kind != Outcome::kRejected) return StatusWord(outcome.kind);
  return outcome.phase == Phase::kOracle ? "not judged" : "rejected";
}

nlohmann::json ToJson(const ModuleResult& result) {
  nlohmann::json subjects = nlohmann::json::array();
  for (const SubjectResult& subject : result.subjects) {
    const Judgement& judgement = subject.outcome.judgement;
    subjects.push_back({{"subject", subject.subject},
                        {"status", StatusOfCheck(subject.outcome)},
                        {"detail", subject.outcome.Describe()},
                        {"waived", subject.waived},
                        {"elements", judgement.elements},
                        {"failed", judgement.failed},
                        {"inconclusive", judgement.inconclusive},
                        {"forced", judgement.forced},
                        {"bound_used", judgement.max_ulps_used},
                        {"compile_seconds", subject.compile_seconds},
                        {"run_seconds", subject.run_seconds}});
    if (!subject.cuts.is_null()) subjects.back()["cuts"] = subject.cuts;
  }
  return {{"name", result.name},
          {"path", result.path},
          {"status", StatusOfCheck(result.outcome)},
          {"detail", result.outcome.Describe()},
          {"unsupported", result.unsupported},
          {"instructions", result.instructions},
          {"inputs_generated", result.inputs_generated},
          {"constants_drawn", result.constants_drawn},
          {"inputs_path", result.inputs_path},
          {"oracle_seconds", result.oracle_seconds},
          {"subjects", subjects}};
}

}  // namespace assay
