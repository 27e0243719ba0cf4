// The errors of functions in ulps, from the runs of `accuracy`.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "reports/site/data_file.h"
#include "reports/store.h"

namespace assay {

// data/ulps.js: of each backend and version the newest run with results, every function with its
// measures ("ulp.worst", "ulp.upto.1", ...: docs/reports.md). Runs come newest first.
absl::Status WriteUlps(const std::vector<RunRow>& runs, DataFiles& files);

}  // namespace assay
