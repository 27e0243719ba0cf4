// Shows what a run of the benchmark found to people: one record per workload, and the Markdown page
// that is made of all of them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/cost.h"
#include "bench/roof.h"
#include "bench/statistics.h"

namespace assay {

// One backend on one workload.
struct Measured {
  std::string backend;
  std::string verdict;  // pass, fail, inconclusive, or why it was not judged
  MedianInterval run, compile;
  double calm_run_seconds = 0;  // a tenth of the runs took less
  int64_t peak_bytes = 0;       // 0: not known
  double kernels = 0;           // 0: not known
  double bytes_moved = 0;       // by its kernels, each operand and result once; 0: not known
  std::map<std::string, double> statistics;  // all that the executable tells
};

struct WorkloadResult {
  std::string name, work_class;
  bool is_unreadable = false;      // the error is of the module, its arrays or the manifest
  std::string error;               // nothing below is filled then
  std::vector<Measured> backends;  // ours first, then the peer's if there is one
  // Speed-ups: the peer's time divided by ours, above 1 is faster. Without samples where there is
  // no peer.
  MedianInterval run_speedup, compile_speedup;
  MedianInterval run_speedup_reused;  // the peer made to keep its pages from run to run
  MedianInterval same;                // ours beside ours (A/A): what the measurement is worth
  Cost cost;
  double limit_seconds = 0;  // of the machine, for this cost
};

struct PerformanceSummary {
  double run = 0, run_reused = 0, compile = 0;  // geometric means of the medians; 0: none
  double share = 0;                             // geometric mean of limit / run
  int64_t measured = 0, failed = 0, errors = 0;
};
PerformanceSummary Summarize(const std::vector<WorkloadResult>& all);

struct PageHead {
  std::string command;  // that makes the page
  std::string backend, peer, machine, version;
};
std::string PerformancePage(const PageHead& head, const std::optional<Roof>& roof,
                            const std::vector<WorkloadResult>& all);

}  // namespace assay
