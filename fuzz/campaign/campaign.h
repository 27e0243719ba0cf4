// A campaign: cases 0, 1, 2, ... of a seed, each generated, asked of the oracle, compiled, run and
// judged in worker processes, until a count or a time is reached. Crashes, hangs and memory
// blow-ups of what is tested are findings, not its end. Findings are checked a second time in a
// fresh process, then handed to triage.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "nlohmann/json_fwd.hpp"

#include "absl/status/statusor.h"
#include "fuzz/campaign/case_records.h"
#include "fuzz/campaign/check_policy.h"
#include "fuzz/finding.h"
#include "fuzz/triage/known.h"

namespace assay {

struct CampaignProgress;

struct CampaignOptions {
  uint64_t seed = 1;
  int64_t count = 0;  // cases; 0: until `seconds`
  // From the call on, of which programs have at least half, however long a peer takes to start.
  double seconds = 0;  // 0: until `count`; both 0 is an error
  // Triage has to be done by then as well: cases end early enough for it, and what is in hand when
  // the time is up is given up.
  bool seconds_include_triage = false;
  int64_t first = 0;                  // index of the first case
  int jobs = 0;                       // workers; 0: one per core
  std::vector<std::string> backends;  // names; each case runs on all of them
  CompileOptions compile;             // the planted defect is in here
  std::string profile;                // "": each backend's own
  bool portable = false;  // portable programs alone; forced by a backend that is not in-process
  std::string out_dir;    // "": nothing is written
  // Goes on where the journal in out_dir ends, with the findings that are in it: after a campaign
  // that was killed, or one whose time was too short. It must be the same campaign (IdentityOf).
  bool resume = false;
  double case_seconds = 10;  // a worker that takes longer for one case is killed
  int64_t worker_memory_bytes = int64_t{3} << 30;
  int64_t cases_per_worker = 20000;  // then a fresh one, so that leaks do not add up
  // Every so many-th program is run and compiled several times; 0: none; negative: of 100 one, of
  // 400 one where compiling costs as much as it does elsewhere.
  int64_t repeat_every = -1;
  int64_t input_sets = 0;  // runs per executable; 0: 8 where a backend is not in-process, else 2
  // So many programs of a hundred are compiled in a cheap way first, where the backend has one
  // (CheapFlags), and only what fails there as a user would compile it; several are compiled as one
  // (pack.h), the rest among themselves. With 0 each is compiled alone, as a user would.
  int64_t screened_percent = CheckPolicy::kScreenedPercent;
  // Suspects that fail like many before them are checked, too, and not only counted.
  bool check_all = false;
  // Looks for what is no failure but worth knowing, and explains it.
  bool notable = true;
  int64_t stop_after_findings = 0;  // confirmed ones; 0: never
  int64_t most_checked = 0;  // suspects beyond this are counted and not checked again; 0: no limit
  int64_t most_triaged = 0;  // 0: of every signature one finding, and a sample of the rest
  double triage_seconds = 120;  // per finding
  // Counted apart, and not triaged; three of four programs that may show them are not run.
  std::vector<KnownBug> known;
  double progress_seconds = 0.5;
  std::function<void(const CampaignProgress&)> progress;
};

// The functions of other rooms that a campaign needs. They are called in its template process,
// `triage` in a process of its own.
struct CampaignTools {
  std::function<absl::StatusOr<std::unique_ptr<Oracle>>()> make_oracle;
  std::function<absl::StatusOr<std::unique_ptr<Backend>>(const std::string& name)> make_backend;
  TriageFunction triage;  // empty: findings are bucketed by kind and message
  // Optional: called once, where a backend runs in another process, before workers are forked that
  // triage. It may start what triage needs, and does not wait for it.
  std::function<void()> prepare_triage = nullptr;
  // An interpreter with numpy, which second checks ask for real numbers; "": nobody is asked.
  std::string python = "";
};

// One confirmed finding. The case itself is written to out_dir/cases, with inputs.
struct CampaignFinding {
  int64_t index = -1;
  std::string backend;
  Outcome::Kind kind = Outcome::kWrong;
  Phase phase = Phase::kJudge;
  bool exact = false;              // shown with the exact inputs
  int64_t set = 0;                 // otherwise with this set of inputs
  std::vector<int64_t> with = {};  // cases that have to be part of its program (CaseKey::with)
  int64_t output = -1;  // the only one that the program has then (CaseKey::output); -1: all
  int64_t instructions = 0;
  Culprit culprit;        // before it is reduced
  std::string signature;  // SignatureText of it: what tells it from others before it is reduced
  std::string place;      // where its second check saw it first (Signature::place); "": not known
  std::string variant;    // of its bucket (VariantOf): two of them are triaged; "": not known
  std::string text, second_check;
  bool triaged = false;
  TriageResult triage;
  std::string triage_error;  // why there is no triage although it was tried
  std::string bucket;
  std::string notable;  // what of it is only notable; "" of a failure
  std::string known;    // the reason of the known bug that it is; "": it is news
};

struct CampaignSummary {
  uint64_t seed = 0;
  int64_t first = 0;
  std::vector<std::string> backends, versions;
  int jobs = 0;
  bool portable = false;
  std::string generator;  // a number for the programs that this generator makes for it
  std::string probe;  // how it was found out what another compiler refuses; "": nobody was asked
  // Ops, types and recipes that no program has, because a backend says that it does not do them.
  std::vector<std::string> excluded_ops, excluded_types, excluded_recipes;
  bool interrupted = false;
  absl::Status error;    // that ended it early, such as a full disk; the rest is what was done
  int64_t programs = 0;  // cases brought to an end
  int64_t earlier = 0;   // cases that the campaign had brought to an end before it was resumed
  int64_t illegal = 0;   // of them: did not verify and were skipped
  int64_t avoided = 0;   // of them: may show what is known, and were skipped
  // Verdicts, counted per case and backend.
  int64_t compared = 0;      // passed, mistrusted or failed
  int64_t inconclusive = 0;  // also with the exact inputs
  int64_t rescued = 0;       // of compared: only with the exact inputs
  int64_t mistrusted = 0;    // of compared
  int64_t unsupported = 0, sick = 0;
  int64_t not_run = 0;        // on this backend: the worker died of another one
  int64_t screened = 0;       // cases that were screened, per backend
  int64_t suspects = 0;       // failures before the second check
  int64_t screened_only = 0;  // of them: failed while screened, but not as a user compiles
  // Suspects that failed while screened where many others did, and were only counted; by the
  // signature of those others, "" where all of those failed only while they were screened.
  std::map<std::string, int64_t> alike;
  int64_t findings = 0;     // after it
  int64_t unconfirmed = 0;  // suspects that did not repeat in a fresh process
  int64_t unchecked = 0;    // suspects beyond most_checked, or when the time was up
  int64_t input_sets = 1;   // runs per executable
  double cpu_seconds = 0;   // of all processes of the campaign, with the triage after its cases
  // The CPU time of second checks and of triage.
  double cpu_seconds_of_checks = 0, cpu_seconds_of_triage = 0;
  int cores = 0;         // of this machine
  int64_t repeated = 0;  // programs run and compiled several times
  int64_t workers_lost = 0;
  // Programs that cost a worker and are no finding for it, by index: what it died of. At most
  // kMostLost of them.
  std::map<int64_t, std::string> lost;
  static constexpr size_t kMostLost = 20;
  double respawn_seconds = 0;  // spent on replacing them
  double seconds = 0;          // wall clock until the last case ended
  double triage_seconds = 0;   // and from then on
  StageSeconds stages;         // summed over workers
  std::map<std::string, int64_t> unsupported_reasons, inconclusive_reasons, illegal_reasons;
  std::map<std::string, int64_t> kinds;       // findings by kind
  std::map<std::string, int64_t> rules;       // decisions fired
  std::map<std::string, int64_t> signatures;  // findings per signature
  std::map<std::string, int64_t> buckets;     // failures per bucket
  // A bucket that is probably the bug of another one: which, and why (fuzz/campaign/doubles.h).
  struct Double {
    std::string bucket, why;
  };
  std::map<std::string, Double> doubles;
  std::map<std::string, int64_t> known;    // findings per known bug, by its reason
  std::map<std::string, int64_t> notable;  // findings that are no failures, by what they are
  int64_t refuted = 0;  // findings that the second opinion calls false alarms of ours
  std::vector<CampaignFinding> found;  // by index

  double ProgramsPerSecond() const {
    return seconds > 0 ? static_cast<double>(programs) / seconds : 0;
  }
  double CpuMillisecondsPerProgram() const { return MillisecondsPerProgram(cpu_seconds); }
  double MillisecondsPerProgram(double of_seconds) const {
    return programs > 0 ? 1000 * of_seconds / static_cast<double>(programs) : 0;
  }
  // The share of what all cores of the machine could give; the rest went to other programs, or was
  // spent waiting.
  double ShareOfCpu() const {
    const double all_seconds = seconds + triage_seconds;
    return all_seconds > 0 && cores > 0 ? cpu_seconds / (all_seconds * cores) : 0;
  }
  static int64_t SumOf(const std::map<std::string, int64_t>& counts) {
    int64_t sum = 0;
    for (const auto& entry : counts) sum += entry.second;
    return sum;
  }
  // Findings that somebody has to look at.
  int64_t Failures() const { return findings - SumOf(known) - SumOf(notable) - refuted; }
  // The fields above as one object, findings with their titles and pages.
  nlohmann::json ToJson() const;
};

struct CampaignProgress {
  const CampaignSummary& so_far;
  int64_t count = 0;         // of options; 0: none
  double seconds_left = -1;  // < 0: not known
  bool triaging = false;     // only triage is left to do
};

// Errors: what keeps a campaign from beginning: sick machine (processes, files), what the makers
// return, invalid options. What ends it later is the summary's `error`. SIGINT and SIGTERM end the
// campaign early and the summary says so. The calling process should be
// single-threaded and must not wait for other children meanwhile.
absl::StatusOr<CampaignSummary> RunCampaign(const CampaignOptions& options,
                                            const CampaignTools& tools);

}  // namespace assay
