// Compile, run, judge: the one way in which a program is checked on a backend. Suites, campaigns,
// blame and the reducer differ in what they check and how often, not in how.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/backend/backend.h"
#include "spec/backend/oracle.h"
#include "spec/backend/outcome.h"

namespace assay {

// A program with its inputs. All that it points to outlives the check.
struct CheckCase {
  const Module& module;
  std::vector<std::vector<const Literal*>> arguments;  // per device (replica major), per parameter
  DeviceAssignment devices = {};
  std::vector<std::vector<Literal>> infeeds = {};  // per device, in order; empty: there are none

  // On the devices of DevicesOf(module), all of which are given the same inputs.
  static CheckCase Of(const Module& module, const std::vector<Literal>& inputs);
  static CheckCase OfPointers(const Module& module, std::vector<const Literal*> inputs);
};
// The devices that the header names, where the module has ops by which devices meet or know
// themselves; one device otherwise, and where the header names more than 1,024.
DeviceAssignment DevicesOf(const Module& module);

// The backend that is checked, and the oracle that it is checked against. All referenced objects
// outlive the check.
struct CheckSubject {
  Oracle& oracle;
  Backend& backend;
  const Profile& profile;
  CompileOptions options;    // limits, devices and decision_limit are set by the check
  Limits limits;             // of the oracle, of each compilation and of each run
  int64_t oracle_steps = 0;  // of the oracle alone; 0: limits.steps
};

struct CheckRequest {
  int64_t decision_limit = -1;  // decisions numbered above it are refused; negative: none
  // Then runs so many times more, and compiles anew before every `compile_every`-th of them: other
  // bits are a failure.
  int64_t repeats = 0;
  int64_t compile_every = 4;
};

// Wall clock seconds; repetitions do not count.
struct CheckSeconds {
  double oracle = 0, compile = 0, run = 0, judge = 0;
  double passes = 0;  // of compile, when the executable's statistic "compile.seconds.passes" says
};

struct CheckResult {
  Outcome outcome;
  std::vector<Decision> decisions;  // of the compilation, when it got that far
  std::string output;  // what a failing backend returned, as a literal; "" when large or not there
  CheckSeconds seconds;
  double run_seconds = 0;  // as the executable reports it
};

// The right results on all devices: those of device 0, 1, ..., one after the other.
struct CaseExpectation {
  Expectation results;
  Expectation outfeeds;  // likewise, what each device sends out; without leaves: nothing
};
absl::StatusOr<CaseExpectation> ExpectOn(Oracle& oracle, const CheckCase& check_case,
                                         const Profile& profile, const Limits& limits);
// The oracle's plain results on all devices, gathered.
absl::StatusOr<Literal> EvaluateOn(Oracle& oracle, const CheckCase& check_case,
                                   const Limits& limits);
// Runs. That the run wrote over an argument is a run crash.
absl::StatusOr<RunResult> RunGuarded(Executable& executable,
                                     const std::vector<std::vector<const Literal*>>& arguments);
// Hands out the infeeds and runs guarded. An answer of fewer devices than the case has is a run
// crash.
absl::StatusOr<RunResult> RunOn(Executable& executable, const CheckCase& check_case);
// The results of all devices as one literal, with the outfeeds behind them if there are any.
Literal Gathered(RunResult run, bool with_outfeeds);

// Checks one case as often as it is asked, and asks the oracle only once. Runs in the calling
// process: a crash of an in-process backend takes the caller with it. The module must verify.
class Checker {
 public:
  Checker(const CheckSubject& subject, CheckCase c) : subject_(subject), case_(std::move(c)) {}
  // Notes phases in `note`, for whoever watches from another process.
  void NotePhaseIn(std::atomic<Phase>* note) { note_ = note; }
  // Takes over what the oracle said already.
  void SetExpectation(CaseExpectation expectation);

  // Compiles, runs and judges.
  CheckResult Check(const CheckRequest& request = {});
  // Runs and judges other inputs on the executable that is there.
  CheckResult CheckAgain(std::vector<std::vector<const Literal*>> arguments);
  // HLO text of the optimized module under the limit; "" when the backend does not show it.
  std::string OptimizedText(int64_t decision_limit);
  // The answer of the last run, as Gathered gives it; an invalid shape if there was none.
  const Literal& answer() const { return answer_; }
  // The oracle's expectation for the inputs of that run, where it has one.
  const Expectation& expectation() const { return expectation_; }
  const CheckSubject& subject() const { return subject_; }
  const CheckCase& check_case() const { return case_; }  // with the arguments of the last run
  // The executable of the last compilation; nullptr if there was none or it failed.
  const Executable* executable() const { return executable_.get(); }

 private:
  void Enter(Phase phase);
  absl::Status Compile(int64_t decision_limit);
  bool AskOracle(CheckResult& result);
  void RunAndJudge(CheckResult& result);
  Outcome Repeat(const CheckRequest& request, Outcome first);

  const CheckSubject& subject_;
  CheckCase case_;
  std::unique_ptr<Executable> executable_;
  Expectation expectation_;         // of results and outfeeds
  std::optional<Outcome> refusal_;  // why the oracle does not say what is right
  bool asked_ = false, has_outfeeds_ = false;
  Literal answer_;  // of the last run
  std::atomic<Phase>* note_ = nullptr;
};

// One check in the calling process.
CheckResult CheckOn(const CheckSubject& subject, const CheckCase& c,
                    const CheckRequest& request = {});
// Checks behind a fork when the backend runs in this process, so that crashes, hangs and memory
// blow-ups are outcomes. The calling process must be single-threaded.
CheckResult CheckIsolated(const CheckSubject& subject, const CheckCase& c,
                          const CheckRequest& request = {});

// One form of decisions between processes, on disk and in what verbs print.
nlohmann::json ToJson(const Decision& decision);
Decision DecisionFromJson(const nlohmann::json& json);

}  // namespace assay
