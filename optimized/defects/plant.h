// Makes a gate's defect of one that was read.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "optimized/defects/defect.h"
#include "optimized/gates/planted_defect.h"

namespace assay {

std::shared_ptr<const GateDefect> Plant(Defect defect);
// Plants a defect given as JSON text, as CompileOptions::defect has it; null for "". Errors: see
// ParseDefect.
absl::StatusOr<std::shared_ptr<const GateDefect>> PlantFromText(const std::string& json);

}  // namespace assay
