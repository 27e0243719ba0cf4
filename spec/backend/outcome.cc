// Names of outcomes, and what errors, deaths and judgements become.
#include "spec/backend/outcome.h"

#include <array>

#include "nlohmann/json.hpp"
#include "spec/base/strings.h"
#include "spec/numerics/shows_little.h"

namespace assay {
namespace {

struct PhaseRow {
  std::string_view name, doing;
};
constexpr std::array<PhaseRow, kPhaseCount> kPhases = {{
    {"idle", "idle"},
    {"generate", "generating"},
    {"oracle", "evaluating on the oracle"},
    {"compile", "compiling"},
    {"run", "running"},
    {"judge", "judging"},
    {"read", "reading"},
    {"start", "starting the backend"},
}};

struct KindRow {
  Outcome::Kind kind;
  std::string_view name, status;
};
constexpr std::array<KindRow, kOutcomeKindCount> kKinds = {{
    {Outcome::kPassed, "pass", "passed"},
    {Outcome::kMistrusted, "mistrusted", "passed"},
    {Outcome::kInconclusive, "inconclusive", "inconclusive"},
    {Outcome::kNothingToJudge, "nothing to judge", "nothing to judge"},
    {Outcome::kUnsupported, "unsupported", "unsupported"},
    {Outcome::kRejected, "rejected", "failed"},
    {Outcome::kWrong, "wrong value", "failed"},
    {Outcome::kNondeterministic, "nondeterministic", "failed"},
    {Outcome::kCompileCrash, "compile crash", "crashed"},
    {Outcome::kRunCrash, "run crash", "crashed"},
    {Outcome::kTimeout, "timeout", "timed out"},
    {Outcome::kOutOfMemory, "out of memory", "crashed"},
    {Outcome::kSickMachine, "sick machine", "crashed"},
    {Outcome::kOurFault, "harness", "crashed"},
    {Outcome::kNotRun, "not run", "unreadable"},
}};

constexpr bool RowsAreInOrder() {
  for (size_t i = 0; i < kKinds.size(); ++i) {
    if (kKinds[i].kind != i) return false;
  }
  return true;
}
static_assert(RowsAreInOrder());

Outcome::Kind KindOf(ErrorClass error) {
  switch (error) {
    case ErrorClass::kRejected:
      return Outcome::kRejected;
    case ErrorClass::kUnsupported:
      return Outcome::kUnsupported;
    case ErrorClass::kCompileCrash:
      return Outcome::kCompileCrash;
    case ErrorClass::kRunCrash:
      return Outcome::kRunCrash;
    case ErrorClass::kTimeout:
      return Outcome::kTimeout;
    case ErrorClass::kOutOfMemory:
      return Outcome::kOutOfMemory;
    case ErrorClass::kSickMachine:
      return Outcome::kSickMachine;
  }
  return Outcome::kOurFault;
}

bool IsLimit(Outcome::Kind kind) {
  return kind == Outcome::kTimeout || kind == Outcome::kOutOfMemory;
}

// Turns the end of a process into the outcome for whoever was at work in it.
Outcome::Kind KindOf(Isolated::End end, Phase phase) {
  switch (end) {
    case Isolated::End::kTimeout:
      return Outcome::kTimeout;
    case Isolated::End::kOutOfMemory:
      return Outcome::kOutOfMemory;
    case Isolated::End::kExited:
    case Isolated::End::kSignalled:
      return phase == Phase::kRun ? Outcome::kRunCrash : Outcome::kCompileCrash;
    case Isolated::End::kReturned:  // and what it returned was no answer
      return Outcome::kOurFault;
    case Isolated::End::kSickMachine:
      return Outcome::kSickMachine;
  }
  return Outcome::kSickMachine;
}

Verdict VerdictFromNumber(int number) {
  return number == 0 ? Verdict::kPass : number == 1 ? Verdict::kFail : Verdict::kInconclusive;
}

}  // namespace

std::string_view Name(Phase phase) { return kPhases[static_cast<size_t>(phase)].name; }

std::optional<Phase> PhaseFromName(std::string_view name) {
  for (size_t i = 0; i < kPhases.size(); ++i) {
    if (kPhases[i].name == name) return static_cast<Phase>(i);
  }
  return std::nullopt;
}

std::string_view Doing(Phase phase) { return kPhases[static_cast<size_t>(phase)].doing; }

std::string_view Name(Outcome::Kind kind) { return kKinds[kind].name; }

std::optional<Outcome::Kind> OutcomeKindFromName(std::string_view name) {
  for (const KindRow& row : kKinds) {
    if (row.name == name) return row.kind;
  }
  return std::nullopt;
}

std::string_view StatusWord(Outcome::Kind kind) { return kKinds[kind].status; }

absl::Span<const std::string_view> StatusWords() {
  static constexpr std::string_view kWords[] = {
      "passed",   "inconclusive", "nothing to judge", "unsupported", "not judged",
      "rejected", "failed",       "timed out",        "crashed",     "unreadable"};
  return kWords;
}

std::string_view StateWord(const Outcome& outcome) {
  if (outcome.IsFailure()) return "fail";
  if (outcome.IsPass()) return "pass";
  const bool has_own_word = outcome.kind == Outcome::kInconclusive ||
                            outcome.kind == Outcome::kNothingToJudge ||
                            outcome.kind == Outcome::kUnsupported;
  return has_own_word ? Name(outcome.kind) : Name(Outcome::kOurFault);
}

const Outcome& Worse(const Outcome& a, const Outcome& b) { return a.kind < b.kind ? b : a; }

std::string Outcome::Describe() const {
  if (died) return StrCat("while ", Doing(phase), ": ", reason);
  if (!error.has_value()) return reason;
  return StrCat(phase == Phase::kOracle ? "oracle: " : "", Name(*error), ": ", reason);
}

Outcome MakeOutcome(Outcome::Kind kind, Phase phase, std::string reason) {
  Outcome outcome;
  outcome.kind = kind;
  outcome.phase = phase;
  outcome.reason = std::move(reason);
  return outcome;
}

Outcome OutcomeOf(const absl::Status& error, Phase phase) {
  const ErrorClass error_class = ClassOf(error);
  Outcome outcome = MakeOutcome(KindOf(error_class), phase, std::string(error.message()));
  outcome.error = error_class;
  return outcome;
}

Outcome OutcomeOfOracle(const absl::Status& error) {
  Outcome outcome = OutcomeOf(error, Phase::kOracle);
  if (IsLimit(outcome.kind)) {
    outcome.kind = Outcome::kInconclusive;
  } else if (outcome.kind == Outcome::kCompileCrash || outcome.kind == Outcome::kRunCrash) {
    outcome.kind = Outcome::kOurFault;
  }
  return outcome;
}

Outcome OutcomeOfDeath(const Isolated& death, Phase phase) {
  Outcome outcome = MakeOutcome(KindOf(death.end, phase), phase, death.Describe());
  outcome.died = true;
  if (death.end == Isolated::End::kTimeout) outcome.error = ErrorClass::kTimeout;
  if (death.end == Isolated::End::kOutOfMemory) outcome.error = ErrorClass::kOutOfMemory;
  const bool is_backend =
      phase == Phase::kCompile || phase == Phase::kRun || phase == Phase::kStart;
  if (IsLimit(outcome.kind)) {
    // Starting takes the time of the machine, not of a program.
    if (!is_backend || phase == Phase::kStart) outcome.kind = Outcome::kInconclusive;
  } else if (!is_backend && outcome.kind != Outcome::kSickMachine) {
    outcome.kind = Outcome::kOurFault;
  }
  return outcome;
}

Outcome OutcomeOfAnswer(const Expectation& expectation, const Literal& answer) {
  Outcome outcome = MakeOutcome(Outcome::kPassed, Phase::kJudge);
  outcome.judgement = Judge(expectation, answer);
  switch (outcome.judgement.verdict) {
    case Verdict::kPass:
      if (outcome.judgement.elements == 0) {
        outcome.kind = Outcome::kNothingToJudge;
        outcome.reason = "the outputs have no elements";
      } else if (ShowsLittle(answer)) {
        outcome.kind = Outcome::kMistrusted;
      }
      break;
    case Verdict::kInconclusive:
      outcome.kind = Outcome::kInconclusive;
      outcome.reason = outcome.judgement.reason;
      break;
    case Verdict::kFail:
      outcome.kind = Outcome::kWrong;
      outcome.reason = DescribeFailure(expectation, answer, outcome.judgement);
      break;
  }
  return outcome;
}

nlohmann::json ToJson(const Outcome& outcome) {
  const Judgement& judgement = outcome.judgement;
  return {{"kind", Name(outcome.kind)},
          {"phase", Name(outcome.phase)},
          {"reason", outcome.reason},
          {"error", outcome.error.has_value() ? static_cast<int>(*outcome.error) : -1},
          {"died", outcome.died},
          {"verdict", static_cast<int>(judgement.verdict)},
          {"elements", judgement.elements},
          {"passed", judgement.passed},
          {"failed", judgement.failed},
          {"inconclusive", judgement.inconclusive},
          {"forced", judgement.forced},
          {"bound_used", judgement.max_ulps_used}};
}

Outcome OutcomeFromJson(const nlohmann::json& json) {
  Outcome outcome;
  outcome.kind = OutcomeKindFromName(json.value("kind", "")).value_or(Outcome::kNotRun);
  outcome.phase = PhaseFromName(json.value("phase", "")).value_or(Phase::kIdle);
  outcome.reason = json.value("reason", "");
  const int error = json.value("error", -1);
  if (error >= 0 && error <= static_cast<int>(ErrorClass::kSickMachine)) {
    outcome.error = static_cast<ErrorClass>(error);
  }
  outcome.died = json.value("died", false);
  outcome.judgement.verdict = VerdictFromNumber(json.value("verdict", 0));
  outcome.judgement.elements = json.value("elements", int64_t{0});
  outcome.judgement.passed = json.value("passed", int64_t{0});
  outcome.judgement.failed = json.value("failed", int64_t{0});
  outcome.judgement.inconclusive = json.value("inconclusive", int64_t{0});
  outcome.judgement.forced = json.value("forced", int64_t{0});
  outcome.judgement.max_ulps_used = json.value("bound_used", 0.0);
  return outcome;
}

}  // namespace assay
