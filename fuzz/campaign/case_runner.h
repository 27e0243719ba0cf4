// One case from seed to verdict: generate, ask the oracle, compile, run, judge. Runs in a worker
// process, which may die of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "fuzz/finding.h"
#include "fuzz/generator/generate.h"
#include "spec/backend/backend.h"
#include "spec/backend/oracle.h"

namespace assay {

// How a case ended on one backend.
enum class CaseOutcome : uint8_t {
  kPass,
  kInconclusive,  // no element was wrong, some were undecided or bounded too widely
  kMistrusted,    // passed, but the outputs are nearly all zero, equal or NaN: shows little
  kUnsupported,   // by the backend or the oracle, in so many words
  kSick,          // this machine's fault
  kFinding,
};
inline constexpr int kCaseOutcomeCount = 6;
std::string_view Name(CaseOutcome outcome);

// Seconds per stage. The compile time of a backend is split by its statistic
// "compile.seconds.passes", when it has one.
struct StageSeconds {
  double generate = 0, oracle = 0, passes = 0, code = 0, run = 0, judge = 0;
  double total() const { return generate + oracle + passes + code + run + judge; }
  StageSeconds& operator+=(const StageSeconds& other);
};

struct BackendRecord {
  CaseOutcome outcome = CaseOutcome::kPass;
  FindingKind kind = FindingKind::kWrongValue;  // of a finding
  CasePhase phase = CasePhase::kJudge;
  bool exact = false;    // the verdict is about the exact inputs
  bool rescued = false;  // inconclusive on its own inputs, decided on the exact ones
  std::string text;      // judgement, error or reason
};

struct CaseRecord {
  int64_t index = 0;
  int64_t instructions = 0;
  Theme theme = Theme::kIndex;
  StageSeconds seconds;
  std::vector<BackendRecord> backends;   // in the campaign's order
  std::map<std::string, int64_t> rules;  // decisions taken
  bool repeated = false;                 // run and compiled several times

  nlohmann::json ToJson() const;
  static CaseRecord FromJson(const nlohmann::json& json);
};

// Answer of the second check, made in a fresh process.
struct ConfirmRecord {
  int64_t runs = 0, fails = 0;
  BackendRecord record;  // of a failing run, if there was one
  std::string exact;  // what the exact inputs say: "fail", "pass", "inconclusive", or "" when there
                      // are no floats
  int64_t instructions = 0;

  nlohmann::json ToJson() const;
  static ConfirmRecord FromJson(const nlohmann::json& json);
};

// Where a worker is, in memory that it shares with the campaign and that outlives it.
struct WorkerState {
  std::atomic<uint8_t> phase{0};    // CasePhase
  std::atomic<uint8_t> backend{0};  // number in the campaign
  std::atomic<uint8_t> exact{0};
};

struct CaseRunnerOptions {
  uint64_t seed = 0;
  GeneratorOptions generator;
  CompileOptions compile;
  std::string profile;         // "": each backend's own
  int64_t repeat_every = 100;  // every so many-th case is run and compiled several times; 0: none
  int64_t repeats = 3;
  int64_t oracle_steps = int64_t{1} << 26;
};

class CaseRunner {
 public:
  // Everything outlives the runner.
  CaseRunner(const CaseRunnerOptions& options, Oracle& oracle, std::vector<Backend*> backends)
      : options_(options), oracle_(oracle), backends_(std::move(backends)) {}

  CaseRecord Run(int64_t index, WorkerState& state);
  // Runs the case `runs` times more on one backend.
  ConfirmRecord Confirm(int64_t index, size_t backend, bool exact, int64_t runs,
                        WorkerState& state);
  // The finding as triage wants it, without judgement.
  Finding MakeFinding(int64_t index, size_t backend, bool exact) const;

 private:
  struct Attempt;
  BackendRecord RunOn(const Case& made, size_t backend, bool exact, CaseRecord& record,
                      WorkerState& state);
  BackendRecord RunAndJudge(Attempt& attempt, CaseRecord& record);
  BackendRecord Repeat(Attempt& attempt, BackendRecord first);
  absl::StatusOr<std::unique_ptr<Executable>> Compile(Attempt& attempt, CaseRecord& record);
  const Profile& ProfileOf(size_t backend) const;

  const CaseRunnerOptions& options_;
  Oracle& oracle_;
  std::vector<Backend*> backends_;
};

}  // namespace assay
