// Looks over the series of a store: what changed, when, and why.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/tracking/why.h"
#include "reports/store.h"

namespace assay {

struct Alert {
  std::string workload, subject;
  std::string measure;  // "ratio", "kernels", "code.bytes", ...
  double before = 0, after = 0;
  bool is_exact = false;  // deterministic: not a matter of statistics
  bool is_worse = false;
  // The change lies between these: the last point of the old level, the first of the new.
  std::string commit_before, commit_after;
  int64_t point_before = 0, point_after = 0;  // ids of points
  size_t from_end = 0;                        // points of the series since then, that one included
  ChangeCause cause;
};

struct AlertGroup {
  std::string key, sentence, commit_before, commit_after;
  bool is_worse = false;  // one of the alerts is
  std::vector<Alert> alerts;
};

struct Watched {
  std::vector<AlertGroup> groups;  // the worst first
  // Levels of time that changed while the machine code did not: never a regression.
  std::vector<Alert> machine;
  int64_t series = 0, points = 0;
};

// One series in the order of time: workload, subject, machine and reference of all points are
// equal.
using Series = std::vector<PointRow>;
std::vector<Series> SeriesOf(std::vector<PointRow> points);

// Why the second point is not as the first. `text` gives the text of a hash.
ChangeCause CauseBetween(
    const PointRow& before, const PointRow& after,
    const std::function<absl::StatusOr<std::string>(const std::string&)>& text);

Watched Watch(const std::vector<Series>& all,
              const std::function<absl::StatusOr<std::string>(const std::string&)>& text);

}  // namespace assay
