// The packages of several backends side by side: a table by op, what fails on one alone, and how
// much of what models contain passes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "reports/package/package.h"

namespace assay {

// So often a form, an op on an element type, stands in modules.
struct ModelForms {
  std::map<std::pair<std::string, std::string>, int64_t> counts;  // by op and type
  int64_t modules = 0, instructions = 0;
};
// Files of modules, and folders of such. Errors: one that cannot be read.
absl::StatusOr<ModelForms> CountForms(const std::vector<std::string>& paths);

// Why cases are wrong, by name.
using CaseClasses = std::map<std::string, std::string>;

// Markdown. `classes` are those of each package's cases. The packages may be of different suites; a
// suite has a table of its own.
std::string ComparisonPage(const std::vector<Package>& packages,
                           const std::vector<CaseClasses>& classes, const ModelForms& models);

}  // namespace assay
