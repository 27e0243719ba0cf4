// The suites of assay conform as lists of cases: what a package says that was to be run.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "fuzz/matrix/matrix.h"
#include "reports/package/package.h"

namespace assay {

// The name of a cell in the store and in packages: the op before it, for tables by op.
std::string CaseNameOf(const MatrixCell& cell);

// The names and the hash of what `asked` names: "matrix", "goldens" or "invalid". Builds all
// programs: minutes for the full tier. Errors: another suite, a tier, shard or level that makes no
// sense.
absl::StatusOr<SuiteSelection> SelectSuite(const SuiteSelection& asked);

// "2/8" as {1, 8}; "" as {0, 1}.
absl::StatusOr<std::pair<int64_t, int64_t>> PartOf(const std::string& shard);

}  // namespace assay
