// `assay check --power`: bends right answers and counts how many of them are then called wrong.
#pragma once

#include <vector>

#include "conformance/power.h"

namespace assay {

// Prints a table, or JSON lines; returns an exit code: kExitFailure below the shares that the
// bounds promise (nine of ten moved elements, every flipped bit).
int RunPower(const std::vector<CaseFile>& cases, Backend* backend, const CheckOptions& options,
             bool all, bool json);

}  // namespace assay
