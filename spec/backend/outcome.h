// The closed set of ways in which a program ends on something under test: suites, campaigns, the
// reducer, blame and the reports all count in it. Design: "Everything under test is a Backend" and
// "Verdicts".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "nlohmann/json_fwd.hpp"
#include "spec/base/error.h"
#include "spec/numerics/expectation.h"
#include "spec/process/isolate.h"

namespace assay {

// The phase that a check was in when it ended.
enum class Phase : uint8_t {
  kIdle,
  kGenerate,  // making the program or its inputs
  kOracle,    // asking which answers are right
  kCompile,
  kRun,
  kJudge,
  kRead,   // reading the program or its arrays from disk
  kStart,  // starting the backend
};
inline constexpr int kPhaseCount = 8;
// "oracle": one word, as findings store it.
std::string_view Name(Phase phase);
std::optional<Phase> PhaseFromName(std::string_view name);
// "evaluating on the oracle": for sentences that begin with "while".
std::string_view Doing(Phase phase);

struct Outcome {
  // In order of how much they matter: of several outcomes the largest stands for all of them.
  enum Kind : uint8_t {
    kPassed,
    kMistrusted,      // passed, but the outputs are nearly all zero, equal or NaN: it shows little
    kInconclusive,    // no element was wrong, some were undecided or bounded too widely; or the
                      // oracle reached a limit
    kNothingToJudge,  // nothing at all was compared
    kUnsupported,     // the oracle or the backend says that it does not do this, by name
    kRejected,        // refused although it verifies; by the oracle: the program cannot be right
    kWrong,           // an output element outside its allowed set
    kNondeterministic,  // same program, same inputs, different bits
    kCompileCrash,      // the compiler died or reported an internal error
    kRunCrash,          // the executable died
    kTimeout,           // compilation or run beyond the limit of time
    kOutOfMemory,       // compilation or run beyond the limit of memory
    kSickMachine,       // this machine's fault: no verdict about anybody
    kOurFault,          // the generator, the oracle or the judge failed: a bug of Assay
    kNotRun,            // it was not tried
  };

  Kind kind = kNotRun;
  Phase phase = Phase::kIdle;  // where it ended
  // The reason for people, in several lines, why the program did not pass. The text of an error
  // comes without its class.
  std::string reason;
  std::optional<ErrorClass> error;  // of an outcome that is an error, or a death at a limit
  bool died = false;                // a child process ended without an answer
  Judgement judgement;              // of an answer that was judged

  // The tested backend did something wrong.
  bool IsFailure() const {
    return phase != Phase::kOracle && kind >= kRejected && kind <= kOutOfMemory;
  }
  // It failed so; as kOurFault also if the oracle refuses the program.
  bool Fails(Kind as) const {
    if (as == kOurFault) return kind == as || (kind == kRejected && phase == Phase::kOracle);
    return IsFailure() && kind == as;
  }
  bool IsPass() const { return kind == kPassed || kind == kMistrusted; }
  // `reason` with whose error it is, of which class, and where a child died: "oracle: timeout: out
  // of steps", "while compiling: died of SIGSEGV".
  std::string Describe() const;
};
inline constexpr int kOutcomeKindCount = 15;

// "wrong value", "compile crash", "pass": as findings and bug pages spell it.
std::string_view Name(Outcome::Kind kind);
std::optional<Outcome::Kind> OutcomeKindFromName(std::string_view name);
// The word of tables and of JSON's "status": passed, inconclusive, nothing to judge, unsupported,
// failed, crashed, unreadable. Kinds that call for the same action share one.
std::string_view StatusWord(Outcome::Kind kind);
// All of them, in order of how much they matter.
absl::Span<const std::string_view> StatusWords();
// The word of JSON's "state": pass, fail, inconclusive, nothing to judge, unsupported, harness.
std::string_view StateWord(const Outcome& outcome);
// The one that matters more.
const Outcome& Worse(const Outcome& a, const Outcome& b);

Outcome MakeOutcome(Outcome::Kind kind, Phase phase, std::string reason = "");
// An error of the tested backend.
Outcome OutcomeOf(const absl::Status& error, Phase phase);
// An error of the oracle. Its limits leave the verdict open; a program that it rejects cannot be
// right; what else it reports is a bug of ours.
Outcome OutcomeOfOracle(const absl::Status& error);
// A child process that ended without an answer. A backend is to blame only for what it was doing
// itself; a limit reached elsewhere leaves the verdict open.
Outcome OutcomeOfDeath(const Isolated& death, Phase phase);
// The verdict on an answer: nothing to judge where it has no elements, mistrusted where it shows
// next to nothing.
Outcome OutcomeOfAnswer(const Expectation& expectation, const Literal& answer);

// All members, and back; a field that is not there has its default value.
nlohmann::json ToJson(const Outcome& outcome);
Outcome OutcomeFromJson(const nlohmann::json& json);

}  // namespace assay
