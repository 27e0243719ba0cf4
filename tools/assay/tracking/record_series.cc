// assay bench --record: a point per workload, beside a frozen program.
#include <cmath>
#include <random>

#include "absl/strings/str_format.h"
#include "bench/statistics.h"
#include "bench/tracking/side.h"
#include "bench/workload.h"
#include "nlohmann/json.hpp"
#include "reports/store.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/process/interrupt.h"
#include "tools/assay/json_line.h"
#include "tools/assay/terminal.h"
#include "tools/assay/tracking/tracking.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

// The reference of the newest point, so that a series goes on; "" where the store has none.
absl::StatusOr<std::string> ReferenceInUse(Store& store) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<PointRow> points, store.Points());
  for (auto point = points.rbegin(); point != points.rend(); ++point) {
    if (!point->reference.empty()) return point->reference;
  }
  return std::string();
}

absl::StatusOr<PointRow> TakePoint(const Side& side, const Side& frozen, const std::string& path,
                                   const TrackingOptions& options, const SampleOptions& sampling,
                                   PointRow point) {
  std::vector<double> ours, theirs;
  std::mt19937_64 order(sampling.seed);
  for (int64_t i = 0; i < options.samples; ++i) {
    const bool ours_first = (order() & 1) == 0;
    for (const bool is_ours : {ours_first, !ours_first}) {
      ASSAY_ASSIGN_OR_RETURN(const SideSample sample,
                             TakeSample(is_ours ? side : frozen, path, sampling));
      (is_ours ? ours : theirs).push_back(sample.run_seconds);
      if (!is_ours) continue;
      for (const auto& [name, value] : sample.measures) {
        double& kept = point.measures[name];
        // Compilation is slowed by others, never hastened: the least time is the program's own.
        const bool is_time = name.rfind("compile", 0) == 0;
        kept = is_time && kept > 0 ? std::min(kept, value) : value;
      }
    }
  }
  const MedianInterval ratio = EstimateMedian(PairedRatios(ours, theirs));
  point.measures["ratio"] = ratio.median;
  point.measures["ratio.lower"] = ratio.lower;
  point.measures["ratio.upper"] = ratio.upper;
  point.measures["run_seconds"] = EstimateMedian(ours).median;
  for (auto& [kind, text] : MadeBy(side, path, sampling.timeout)) point.texts[kind] = text;
  return point;
}

PointRow BlankPoint(const TrackingOptions& options, const TrackingSetting& setting,
                    const std::string& reference) {
  const RunRow run = BeginRun("bench", setting.backend, "");
  PointRow point;
  point.subject = setting.backend;
  point.machine = StrCat(run.machine, ", ", run.cpu, ", ", Count(run.cores, "core"));
  point.reference = reference;
  point.version = run.version;
  point.commit = options.commit.empty() ? run.commit : options.commit;
  point.taken_ms = run.started_ms;
  point.flags = StrCat("seed ", setting.seed);
  return point;
}

void TellPoint(const PointRow& point, const std::string& how) {
  auto measure = [&](const char* name) {
    auto at = point.measures.find(name);
    return at == point.measures.end() ? 0.0 : at->second;
  };
  const double instructions = measure("instructions");
  Print(absl::StrFormat(
      "%s: %.4f [%.4f, %.4f] of the reference's time, %.0f kernels, %.0f bytes of code%s",
      point.workload, measure("ratio"), measure("ratio.lower"), measure("ratio.upper"),
      measure("kernels"), measure("code.bytes"),
      instructions > 0 ? absl::StrFormat(", %.0f instructions (%s)", instructions, how) : ""));
}

}  // namespace

absl::StatusOr<int> RecordSeries(const TrackingOptions& options, const TrackingSetting& setting) {
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Store> store, Store::Open(setting.db));
  const std::string cache = setting.db + ".frozen";
  std::string reference;
  if (!options.freeze) {
    ASSAY_ASSIGN_OR_RETURN(reference, ReferenceInUse(*store));
  }
  if (reference.empty()) {
    ASSAY_ASSIGN_OR_RETURN(reference, Freeze(ThisProgram(), cache));
    if (!setting.json) Print(StrCat("this program is the frozen reference now: ", reference));
  }
  ASSAY_ASSIGN_OR_RETURN(const std::string program, FrozenProgram(reference, cache));
  const Side usual{"this", ThisProgram(), setting.backend, setting.python};
  Side side = usual;
  if (!options.candidate.empty()) {
    ASSAY_ASSIGN_OR_RETURN(side, SideNamed(options.candidate, usual, cache));
  }
  // The reference is a program with its usual options, whatever is measured.
  const Side frozen{"reference", program, setting.backend, setting.python};
  const SampleOptions sampling{setting.min_seconds, setting.max_seconds, setting.seed};
  std::vector<PointRow> points;
  int64_t errors = 0, number = -1;
  const InterruptGuard guard(/*ends_evaluations=*/true);
  for (const std::string& given : setting.paths) {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<std::string> found, FindWorkloads(given));
    for (const std::string& path : found) {
      if (++number % setting.shard_count != setting.shard_index) continue;
      PointRow blank = BlankPoint(options, setting, reference);
      blank.workload = NameOfWorkload(path);
      absl::StatusOr<PointRow> point = TakePoint(side, frozen, path, options, sampling, blank);
      if (InterruptRequested()) return kExitInterrupted;
      std::string how;
      if (point.ok() && !options.no_instructions) {
        const absl::StatusOr<Instructions> counted = CountInstructions(side, path, sampling);
        if (counted.ok()) {
          point->measures["instructions"] = counted->per_run;
          how = counted->how;
          point->flags += StrCat(", instructions by ", how);
        } else {
          PrintError(StrCat("instructions: ", ToStd(counted.status().message())));
        }
      }
      if (!point.ok()) {
        PrintError(StrCat(blank.workload, ": ", ToStd(point.status().message())));
        ++errors;
        continue;
      }
      ASSAY_RETURN_IF_ERROR(store->AddPoints({*point}));
      if (setting.json) {
        PrintJson(
            {{"type", "point"}, {"workload", point->workload}, {"measures", point->measures}});
      } else {
        TellPoint(*point, how);
      }
    }
  }
  return errors > 0 ? kExitFailure : kExitOk;
}

}  // namespace assay
