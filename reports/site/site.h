// A site about everything in a store: static, opens from disk, needs no server and no network. One
// page of script reads data files as they are asked for, each at most kMostBytes long.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "reports/store.h"

namespace assay {

// A change of level in a series of performance, as somebody who looks over series found it.
struct SiteChange {
  std::string measure;
  double before = 0, after = 0;
  bool is_worse = false, is_exact = false;
  bool is_machine = false;  // the code is the same: the machine's or a library's
  std::string commit_before, commit_after;
  int64_t point_after = 0;  // id of the first point of the new level
  std::string cause;        // a sentence
};

// One series: points in the order of time, equal in workload, subject, machine and reference.
struct SiteSeries {
  std::vector<PointRow> points;
  // Per measure the spread (standard deviation of logarithms) of one point.
  std::map<std::string, double> noise;
  std::vector<SiteChange> changes;
};

struct SiteOptions {
  std::string folder;
  std::string title = "Assay";
  int64_t runs = 200;  // the newest ones
  std::vector<SiteSeries> series;
  // A JSON object per known cause (docs/json.md, `known`), with the text of the program as
  // `program` and the line that shows it as `command`.
  std::vector<std::string> causes;
  // Files of lines (`results.jsonl`) of campaigns that may still go on.
  std::vector<std::string> journals;
};

struct SiteTotals {
  int64_t runs = 0, results = 0, files = 0, bytes = 0, largest = 0;
};

// The limit of one data file, in bytes.
inline constexpr int64_t kMostSiteBytes = 2 << 20;

// Writes FOLDER/index.html, its scripts and style, and FOLDER/data. What an earlier call left in
// FOLDER/data is removed at the end. Errors: of the store; of files, with their path.
absl::StatusOr<SiteTotals> WriteSite(Store& store, const SiteOptions& options);

}  // namespace assay
