// assay report diff A B: the verdicts of two runs.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace assay {

struct DiffRequest {
  // Each: the number of a run in `db`, "last", "last~N" for the N-th before it, or FILE.db or
  // FILE.db:RUN for one of another store.
  std::vector<std::string> runs;
  std::string db;
  std::string form = "text";  // text, markdown, json
  std::string out;            // "": standard output
};

// The exit status is that of a failure where something is wrong in B that was not in A.
absl::StatusOr<int> ReportDiff(const DiffRequest& request);

}  // namespace assay
