// assay bench --record: a point per workload, beside a frozen program.
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "bench/tracking/commits.h"
#include "bench/tracking/point.h"
#include "bench/tracking/side.h"
#include "bench/workload.h"
#include "nlohmann/json.hpp"
#include "reports/store.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/process/interrupt.h"
#include "tools/assay/json_line.h"
#include "tools/assay/terminal.h"
#include "tools/assay/tracking/sides.h"
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

struct Recorder {
  const TrackingOptions& options;
  const TrackingSetting& setting;
  Store& store;
  std::string reference;  // hash
  Side frozen;
  std::vector<std::string> paths;  // of this part of the workloads
  SampleOptions sampling;
  int64_t errors = 0;

  // A point per workload, each in the store before the next is taken.
  absl::Status Record(const Side& side, const std::string& commit,
                      const std::vector<std::string>& workloads);
  // The workloads of every commit of A..B that have no point yet. What cannot be built is told and
  // left out.
  absl::Status RecordCommits();
};

absl::Status Recorder::Record(const Side& side, const std::string& commit,
                              const std::vector<std::string>& workloads) {
  for (const std::string& path : workloads) {
    PointRow blank = BlankPoint(options, setting, reference);
    if (!commit.empty()) blank.commit = commit;
    blank.workload = NameOfWorkload(path);
    absl::StatusOr<PointRow> point =
        TakePoint(side, frozen, path, options.samples, sampling, blank);
    if (point.ok()) {
      for (auto& [kind, text] : MadeBy(side, path, sampling.timeout)) point->texts[kind] = text;
    }
    if (InterruptRequested()) return absl::CancelledError("interrupted");
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
    ASSAY_RETURN_IF_ERROR(store.AddPoints({*point}));
    if (setting.json) {
      PrintJson({{"type", "point"},
                 {"workload", point->workload},
                 {"commit", point->commit},
                 {"measures", point->measures}});
    } else {
      TellPoint(*point, how);
    }
  }
  return absl::OkStatus();
}

absl::Status Recorder::RecordCommits() {
  const size_t dots = options.series.find("..");
  if (dots == std::string::npos) {
    return absl::InvalidArgumentError(
        StrCat("--series ", options.series, " is no range of commits like v1.0..HEAD"));
  }
  ASSAY_ASSIGN_OR_RETURN(
      const std::vector<std::string> commits,
      CommitsBetween(options.series.substr(0, dots), options.series.substr(dots + 2)));
  const PointRow like = BlankPoint(options, setting, reference);
  std::set<std::pair<std::string, std::string>> done;  // commit, workload
  ASSAY_ASSIGN_OR_RETURN(const std::vector<PointRow> points, store.Points());
  for (const PointRow& point : points) {
    const bool is_of_series = point.subject == like.subject && point.machine == like.machine &&
                              point.reference == reference;
    if (is_of_series) done.insert({point.commit, point.workload});
  }
  for (size_t i = 0; i < commits.size(); ++i) {
    const std::string commit = commits[i].substr(0, 12);
    std::vector<std::string> open;
    for (const std::string& path : paths) {
      if (done.count({commit, NameOfWorkload(path)}) == 0) open.push_back(path);
    }
    if (open.empty()) continue;
    if (!setting.json) Print(StrCat("commit ", commit, ", ", i + 1, " of ", commits.size()));
    const absl::StatusOr<Side> side = OneSide(commits[i], options, setting);
    if (InterruptRequested()) return absl::CancelledError("interrupted");
    if (!side.ok()) {
      PrintError(StrCat("left out: ", ToStd(side.status().message())));
      ++errors;
      continue;
    }
    ASSAY_RETURN_IF_ERROR(Record(*side, commit, open));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> WorkloadsOf(const TrackingSetting& setting) {
  std::vector<std::string> paths;
  int64_t number = -1;
  for (const std::string& given : setting.paths) {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<std::string> found, FindWorkloads(given));
    for (const std::string& path : found) {
      if (++number % setting.shard_count == setting.shard_index) paths.push_back(path);
    }
  }
  return paths;
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
  // The reference is a program with its usual options, whatever is measured.
  Recorder recorder{options,
                    setting,
                    *store,
                    reference,
                    {"reference", program, setting.backend, setting.python},
                    {},
                    {setting.min_seconds, setting.max_seconds, setting.seed}};
  ASSAY_ASSIGN_OR_RETURN(recorder.paths, WorkloadsOf(setting));
  const InterruptGuard guard(/*ends_evaluations=*/true);
  absl::Status status;
  if (!options.series.empty()) {
    status = recorder.RecordCommits();
  } else {
    Side side{"this", ThisProgram(), setting.backend, setting.python};
    if (!options.candidate.empty()) {
      ASSAY_ASSIGN_OR_RETURN(side, OneSide(options.candidate, options, setting));
    }
    status = recorder.Record(side, "", recorder.paths);
  }
  if (absl::IsCancelled(status)) return kExitInterrupted;
  ASSAY_RETURN_IF_ERROR(status);
  return recorder.errors > 0 ? kExitFailure : kExitOk;
}

}  // namespace assay
