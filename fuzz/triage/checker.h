// One question about one case, asked again and again by confirmation, blame and reduction: does
// this program, with these inputs, still fail on this backend, and how?
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/finding.h"
#include "spec/backend/oracle.h"
#include "spec/ir/module.h"
#include "spec/numerics/profile.h"

namespace assay {

struct CheckOutcome {
  enum class State : uint8_t {
    kPass,
    kFail,  // `kind` says how
    kInconclusive,
    kUnsupported,  // by backend or oracle
    kHarness,      // the oracle or this machine failed: no verdict about the backend
  };
  State state = State::kHarness;
  FindingKind kind = FindingKind::kWrongValue;
  std::string detail;  // for people: DescribeFailure, the error, or how it died
  std::string output;  // what the backend returned, as a literal; "" when large or not there
  std::vector<Decision> decisions;  // of the compilation, when it got that far

  bool Fails(FindingKind as) const { return state == State::kFail && kind == as; }
};
std::string_view Name(CheckOutcome::State state);

struct CheckLimits {
  double seconds =
      5;  // per compile and per run; a whole check in a child may take three times that
  int64_t memory_bytes = int64_t{4} << 30;
  int64_t steps = int64_t{1} << 28;
};

// What is checked and against what. All referenced objects outlive the checker.
struct CheckSubject {
  Oracle& oracle;
  Backend& backend;
  const Profile& profile;
  CompileOptions options;  // decision_limit and limits are set per check
  CheckLimits limits;
};

// Runs in the calling process: a crash of an in-process backend takes the caller with it. Expects
// the module to verify and keeps the expectation from check to check.
class CaseChecker {
 public:
  CaseChecker(const CheckSubject& subject, const Module& module,
              const std::vector<Literal>& inputs);
  // decision_limit < 0: none. With `repeat`, also runs and compiles several times and reports
  // differing bits.
  CheckOutcome Check(int64_t decision_limit = -1, bool repeat = false);
  // Where the phases of a check are noted, for whoever watches from another process.
  void NotePhaseIn(CasePhase* phase) { phase_ = phase; }
  // HLO text of the optimized module under the limit; "" when the backend does not show it.
  std::string OptimizedText(int64_t decision_limit);

 private:
  absl::StatusOr<std::unique_ptr<Executable>> Compile(int64_t decision_limit);
  CheckOutcome Compare(const Literal& output) const;

  const CheckSubject& subject_;
  const Module& module_;
  std::vector<const Literal*> arguments_;
  absl::StatusOr<Expectation> expectation_ = absl::UnknownError("not asked yet");
  bool asked_ = false;
  CasePhase ignored_ = CasePhase::kIdle;
  CasePhase* phase_ = &ignored_;
};

// The same behind a fork when the backend runs in this process, so that crashes, hangs and memory
// blow-ups are outcomes. The calling process must be single-threaded.
CheckOutcome CheckIsolated(const CheckSubject& subject, const Module& module,
                           const std::vector<Literal>& inputs, int64_t decision_limit = -1,
                           bool repeat = false);

// Outcome <-> bytes, for pipes between processes.
std::string EncodeOutcome(const CheckOutcome& outcome);
std::optional<CheckOutcome> DecodeOutcome(const std::string& bytes);

// A byte that a forked child shares with its parent, to say in which phase it died.
class SharedPhase {
 public:
  SharedPhase();
  ~SharedPhase();
  SharedPhase(const SharedPhase&) = delete;
  SharedPhase& operator=(const SharedPhase&) = delete;
  CasePhase* get() { return phase_; }

 private:
  CasePhase* phase_;
  bool shared_ = false;
};

// What a forked child that did not return says about the backend: nothing (kHarness) if it died
// while the oracle worked.
struct Isolated;
CheckOutcome OutcomeOfDeath(const Isolated& death, CasePhase phase);

}  // namespace assay
