// One case from seed to verdict: generate, ask the oracle, compile, run, judge. Runs in a worker
// process, which may die of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "fuzz/campaign/case_records.h"
#include "fuzz/campaign/check_policy.h"
#include "fuzz/finding.h"
#include "fuzz/generator/generate.h"
#include "fuzz/peers/pack.h"
#include "fuzz/triage/known.h"
#include "spec/backend/backend.h"
#include "spec/backend/check.h"
#include "spec/backend/oracle.h"
#include "spec/backend/outcome.h"

namespace assay {

// The case and phase that a worker is in, kept in memory that it shares with the campaign and that
// outlives it.
struct WorkerState {
  // Now() when the piece of work in hand began, and how many times the time of one case it may
  // take: several programs that are compiled together are one piece.
  std::atomic<double> begun{0}, times{1};
  std::atomic<int64_t> index{-1};  // -1: of no case, or of several at once
  std::atomic<Phase> phase{Phase::kIdle};
  std::atomic<uint8_t> backend{0};  // number in the campaign
  std::atomic<uint8_t> exact{0};
  std::atomic<int64_t> set{0};

  void Begin(int64_t piece, double as_long_as = 1);
};

struct CaseRunnerOptions {
  uint64_t seed = 0;
  GeneratorOptions generator;
  CompileOptions compile;
  std::string profile;         // "": each backend's own
  int64_t repeat_every = 100;  // every so many-th case is run and compiled several times; 0: none
  int64_t repeats = 3;
  int64_t oracle_steps = int64_t{1} << 26;
  // Flags under which most cases are compiled first, several at once where that is possible;
  // empty: none is.
  std::map<std::string, std::string> screening;
  int64_t screened_percent = CheckPolicy::kScreenedPercent;  // how many of a hundred
  int64_t input_sets = 1;  // each executable runs so many, until one fails
  // Three of four programs that may show one of these are not run.
  std::vector<KnownBug> known;
  std::string python;   // CampaignTools::python
  bool notable = true;  // what is legal and yet far off is looked for
};

class CaseRunner {
 public:
  // Everything outlives the runner.
  CaseRunner(const CaseRunnerOptions& options, Oracle& oracle, std::vector<Backend*> backends)
      : options_(options), oracle_(oracle), backends_(std::move(backends)) {}

  // Cases of the seed, one after the other; those that can be are compiled together.
  std::vector<CaseRecord> Run(const std::vector<int64_t>& indices, WorkerState& state);
  // The finding as triage wants it, without judgement.
  Finding MakeFinding(const CaseKey& key) const;

  // Parts, for the second check.

  // Further sets of inputs for an executable: numbers 1 to `count` - 1, where nothing fails before.
  struct MoreSets {
    int64_t count = 0;
    const std::vector<std::vector<Literal>>* made = nullptr;  // those that exist already, from 0 on
  };
  // The program of a key, with its inputs: one case, or several joined.
  Case Make(const CaseKey& key) const;
  // `record` receives the times and rules, and says whether to run and compile repeatedly.
  // Inputs that the key does not name follow when those that it names show no failure. The flags of
  // the key are set beside the campaign's own. The backend is that of the key, or how it looks from
  // within a pack.
  BackendRecord RunOn(Backend& backend, const Case& made, const CaseKey& key, const MoreSets& more,
                      CaseRecord& record, WorkerState& state);
  // True if the program of this key is compiled cheaply at first; makes the program to count its
  // instructions.
  bool IsScreened(const CaseKey& key) const;
  Backend& BackendOf(const CaseKey& key) const { return *backends_[key.backend]; }
  // The campaign's options, and the flags of the case.
  CompileOptions OptionsFor(const CaseKey& key) const;
  // The subject of a key, compiled with these options and within their limits.
  CheckSubject SubjectOf(const CaseKey& key, const CompileOptions& compile) const;
  const CaseRunnerOptions& options() const { return options_; }

 private:
  // A case on its way to its record.
  struct Prepared {
    Case made;
    CaseRecord record;
    std::unique_ptr<Pack> pack;   // that it leads
    Backend* together = nullptr;  // what it is of the pack that it is in
    std::vector<int64_t> others;  // the cases that are in it, too
    const std::vector<std::vector<Literal>>* sets = nullptr;  // and its inputs there
  };
  Prepared Prepare(int64_t index, WorkerState& state) const;
  bool IsScreened(const CaseKey& key, int64_t instructions) const;
  bool IsRepeated(int64_t index) const;
  // Compiles those together for which that is possible, the screened ones and the rest apart.
  void RunPacks(std::vector<Prepared>& cases, WorkerState& state);
  // Runs members that cannot be compiled together or run in smaller packs.
  void RunPack(absl::Span<Prepared* const> members, bool screened);
  // False where that is not possible.
  bool RunTogether(absl::Span<Prepared* const> members, bool screened);
  // In a cheap way if there is one for the case: what fails there goes to the second check, which
  // compiles it as users do. Otherwise as a user compiles it.
  BackendRecord RunScreened(Prepared& prepared, const CaseKey& key, WorkerState& state);
  // Records the last run of the checker.
  BackendRecord RecordOfRun(const Outcome& outcome, const Checker& checker, const CaseKey& key);
  // Records what is notable of the last run of the checker, of which `passed` is the record.
  std::optional<BackendRecord> FarOffOf(const Checker& checker, const BackendRecord& passed) const;
  // The first failure, else the first set of which something is notable, or one of the sets that
  // pass; otherwise inconclusive.
  BackendRecord RunMoreSets(const Case& made, int64_t index, const MoreSets& more, Checker& checker,
                            CaseRecord& record, WorkerState& state);
  // The set of that number, or the one of `more` if it is there; `drawn` keeps what is drawn.
  CheckCase CaseOf(const Case& made, int64_t index, int64_t set, const MoreSets& more,
                   std::vector<Literal>& drawn) const;
  const Profile& ProfileOf(const CaseKey& key) const;
  // With at most CheckPolicy::kQuickSeconds where the backend runs elsewhere.
  CompileOptions Quick(CompileOptions compile, const Backend& backend) const;

  const CaseRunnerOptions& options_;
  Oracle& oracle_;
  std::vector<Backend*> backends_;
};

}  // namespace assay
