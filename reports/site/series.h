// Series of performance, and what machines could do, as data of the site.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "reports/site/data_file.h"
#include "reports/site/site.h"

namespace assay {

// data/performance.js with a line per series, and data/series-N.js with the points of each.
absl::Status WriteSeries(const std::vector<SiteSeries>& series, DataFiles& files);

// data/speed.js: what runs of `bench` measured, with the limits of the machine and the work of each
// workload where they were noted, for speed-ups and the roofline.
absl::Status WriteSpeed(const std::vector<RunRow>& runs, DataFiles& files);

}  // namespace assay
