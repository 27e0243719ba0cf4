#include "fuzz/triage/checker.h"

#include <sys/mman.h>

#include <utility>

#include "nlohmann/json.hpp"
#include "spec/base/strings.h"
#include "spec/ir/module.h"
#include "spec/process/isolate.h"
#include "spec/text/writer.h"

namespace assay {
namespace {

using Json = nlohmann::json;
using State = CheckOutcome::State;

constexpr int kRepeatRuns = 4;
constexpr int kRepeatCompiles = 2;
constexpr int64_t kShownElements = 64;

CheckOutcome Outcome(State state, std::string detail) {
  CheckOutcome outcome;
  outcome.state = state;
  outcome.detail = std::move(detail);
  return outcome;
}

CheckOutcome Failure(FindingKind kind, std::string detail) {
  CheckOutcome outcome = Outcome(State::kFail, std::move(detail));
  outcome.kind = kind;
  return outcome;
}

std::string ShortText(const Literal& value) {
  int64_t elements = 0;
  for (const Literal* leaf : Leaves(value)) elements += leaf->element_count();
  return elements <= kShownElements ? value.ToString() : "";
}

CheckOutcome OutcomeOfError(const absl::Status& status) {
  std::string text = StrCat(Name(ClassOf(status)), ": ", ToStd(status.message()));
  switch (ClassOf(status)) {
    case ErrorClass::kRejected:
      return Failure(FindingKind::kRejected, text);
    case ErrorClass::kUnsupported:
      return Outcome(State::kUnsupported, text);
    case ErrorClass::kCompileCrash:
      return Failure(FindingKind::kCompileCrash, text);
    case ErrorClass::kRunCrash:
      return Failure(FindingKind::kRunCrash, text);
    case ErrorClass::kTimeout:
      return Failure(FindingKind::kTimeout, text);
    case ErrorClass::kOutOfMemory:
      return Failure(FindingKind::kOutOfMemory, text);
    case ErrorClass::kSickMachine:
      return Outcome(State::kHarness, text);
  }
  return Outcome(State::kHarness, text);
}

CheckOutcome OutcomeOfOracleError(const absl::Status& status) {
  std::string text = StrCat("oracle: ", ToStd(status.message()));
  bool unsupported = ClassOf(status) == ErrorClass::kUnsupported;
  return Outcome(unsupported ? State::kUnsupported : State::kHarness, text);
}

}  // namespace

std::string_view Name(CheckOutcome::State state) {
  constexpr std::string_view kNames[] = {"pass", "fail", "inconclusive", "unsupported", "harness"};
  return kNames[static_cast<size_t>(state)];
}

CaseChecker::CaseChecker(const CheckSubject& subject, const Module& module,
                         const std::vector<Literal>& inputs)
    : subject_(subject), module_(module) {
  for (const Literal& input : inputs) arguments_.push_back(&input);
}

absl::StatusOr<std::unique_ptr<Executable>> CaseChecker::Compile(int64_t decision_limit) {
  CompileOptions options = subject_.options;
  options.decision_limit = decision_limit;
  options.limits = {subject_.limits.seconds, subject_.limits.memory_bytes, subject_.limits.steps};
  return subject_.backend.Compile(module_, options);
}

CheckOutcome CaseChecker::Compare(const Literal& output) const {
  if (!expectation_->inconclusive.empty()) {
    return Outcome(State::kInconclusive, expectation_->inconclusive);
  }
  Judgement judgement = Judge(*expectation_, output);
  switch (judgement.verdict) {
    case Verdict::kPass:
      return Outcome(State::kPass, "");
    case Verdict::kInconclusive:
      return Outcome(State::kInconclusive, judgement.reason);
    case Verdict::kFail:
      break;
  }
  return Failure(FindingKind::kWrongValue, DescribeFailure(*expectation_, output, judgement));
}

CheckOutcome CaseChecker::Check(int64_t decision_limit, bool repeat) {
  if (!asked_) {
    *phase_ = CasePhase::kOracle;
    Limits limits{subject_.limits.seconds, subject_.limits.memory_bytes, subject_.limits.steps};
    expectation_ = subject_.oracle.Expect(module_, arguments_, subject_.profile, limits);
    asked_ = true;
  }
  if (!expectation_.ok()) return OutcomeOfOracleError(expectation_.status());
  *phase_ = CasePhase::kCompile;
  absl::StatusOr<std::unique_ptr<Executable>> executable = Compile(decision_limit);
  if (!executable.ok()) return OutcomeOfError(executable.status());
  *phase_ = CasePhase::kRun;
  std::vector<Decision> decisions = (*executable)->decisions();
  absl::StatusOr<RunResult> run = (*executable)->Run({arguments_});
  CheckOutcome outcome = run.ok() ? Compare(run->outputs.at(0)) : OutcomeOfError(run.status());
  if (repeat && run.ok()) {
    for (int i = 0; i < kRepeatRuns * kRepeatCompiles; ++i) {
      if (i % kRepeatRuns == kRepeatRuns - 1) executable = Compile(decision_limit);
      if (!executable.ok()) return OutcomeOfError(executable.status());
      absl::StatusOr<RunResult> again = (*executable)->Run({arguments_});
      if (!again.ok()) return OutcomeOfError(again.status());
      if (!again->outputs.at(0).BitwiseEqual(run->outputs.at(0))) {
        outcome = Failure(FindingKind::kNondeterministic, "two runs gave different bits");
        break;
      }
    }
  }
  outcome.decisions = std::move(decisions);
  if (run.ok() && outcome.state == State::kFail) outcome.output = ShortText(run->outputs.at(0));
  return outcome;
}

std::string CaseChecker::OptimizedText(int64_t decision_limit) {
  absl::StatusOr<std::unique_ptr<Executable>> executable = Compile(decision_limit);
  if (!executable.ok()) return "";
  absl::StatusOr<std::unique_ptr<Module>> module = (*executable)->OptimizedModule();
  if (!module.ok()) return "";
  return WriteModule(**module, WriteOptions::Short());
}

std::string EncodeOutcome(const CheckOutcome& outcome) {
  Json decisions = Json::array();
  for (const Decision& d : outcome.decisions) {
    decisions.push_back({d.number, static_cast<int>(d.kind), d.rule, d.where, d.taken});
  }
  Json object = {{"state", static_cast<int>(outcome.state)},
                 {"kind", static_cast<int>(outcome.kind)},
                 {"detail", outcome.detail},
                 {"output", outcome.output},
                 {"decisions", std::move(decisions)}};
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<CheckOutcome> DecodeOutcome(const std::string& bytes) {
  Json object = Json::parse(bytes, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object() || !object.contains("decisions")) return std::nullopt;
  CheckOutcome outcome;
  outcome.state = static_cast<State>(object["state"].get<int>());
  outcome.kind = static_cast<FindingKind>(object["kind"].get<int>());
  outcome.detail = object["detail"].get<std::string>();
  outcome.output = object["output"].get<std::string>();
  for (const Json& row : object["decisions"]) {
    outcome.decisions.push_back(
        {row[0].get<int64_t>(), static_cast<DecisionKind>(row[1].get<int>()),
         row[2].get<std::string>(), row[3].get<std::string>(), row[4].get<bool>()});
  }
  return outcome;
}

SharedPhase::SharedPhase() {
  void* page =
      mmap(nullptr, sizeof(CasePhase), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  phase_ = page == MAP_FAILED ? new CasePhase : static_cast<CasePhase*>(page);
  shared_ = page != MAP_FAILED;
  *phase_ = CasePhase::kIdle;
}

SharedPhase::~SharedPhase() {
  if (shared_) {
    munmap(phase_, sizeof(CasePhase));
  } else {
    delete phase_;
  }
}

CheckOutcome OutcomeOfDeath(const Isolated& death, CasePhase phase) {
  if (phase == CasePhase::kOracle || phase == CasePhase::kGenerate) {
    return Outcome(State::kHarness, StrCat("the oracle: ", death.Describe()));
  }
  switch (death.end) {
    case Isolated::End::kTimeout:
      return Failure(FindingKind::kTimeout, death.Describe());
    case Isolated::End::kOutOfMemory:
      return Failure(FindingKind::kOutOfMemory, death.Describe());
    case Isolated::End::kExited:
    case Isolated::End::kSignalled:
      return Failure(
          phase == CasePhase::kCompile ? FindingKind::kCompileCrash : FindingKind::kRunCrash,
          death.Describe());
    default:
      return Outcome(State::kHarness, death.Describe());
  }
}

CheckOutcome CheckIsolated(const CheckSubject& subject, const Module& module,
                           const std::vector<Literal>& inputs, int64_t decision_limit,
                           bool repeat) {
  CaseChecker checker(subject, module, inputs);
  if (!subject.backend.Describe().in_process) return checker.Check(decision_limit, repeat);
  SharedPhase phase;
  checker.NotePhaseIn(phase.get());
  IsolateLimits limits{subject.limits.seconds * 3, subject.limits.memory_bytes};
  Isolated end =
      RunIsolated([&] { return EncodeOutcome(checker.Check(decision_limit, repeat)); }, limits);
  if (!end.ok()) return OutcomeOfDeath(end, *phase.get());
  std::optional<CheckOutcome> outcome = DecodeOutcome(end.bytes);
  return outcome ? *std::move(outcome)
                 : Outcome(State::kHarness, "a garbled answer from the child");
}

}  // namespace assay
