// The results of one run, or what is known of one kind of run, as data of the site: a summary by
// family and column, and parts with the cases of families, which are read when somebody opens one.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "reports/site/data_file.h"
#include "reports/store.h"

namespace assay {

// The words of `CaseRow::status` in the order of their numbers in data files.
const std::vector<std::string>& SiteStatuses();

// Writes data/ID.js and data/ID-0.js, data/ID-1.js, ... A case is named FAMILY__REST; its column is
// its element type in a run of the matrix, and who was judged in others.
absl::Status WriteDataset(const std::string& id, const RunRow& run, DataFiles& files);

}  // namespace assay
