// --defect: a planted defect by name or from a file.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace assay {

// The text for CompileOptions::defect. An error lists the names when there is no such defect.
absl::StatusOr<std::string> DefectJson(const std::string& name_or_path);

}  // namespace assay
