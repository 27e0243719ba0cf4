// `assay check --power`: bends right answers and counts how many of them are then called wrong;
// `--mistakes`: the same of compilations that are wrong in one instruction.
#pragma once

#include <vector>

#include "conformance/cut_power.h"

namespace assay {

// Prints a table, or JSON lines; returns an exit code: kExitFailure below the shares that the
// bounds promise (nine of ten moved elements, every flipped bit).
int RunPower(const std::vector<CaseFile>& cases, Backend* backend, const CheckOptions& options,
             bool all, bool json);

// Prints a line for every program, what was not convicted, and sums; kExitFailure below nineteen of
// twenty mistakes that fail, nineteen of twenty of those in their stretch, or with one
// recompilation that fails.
int RunMistakes(const std::vector<CaseFile>& cases, Backend& backend, const CheckOptions& options,
                const CutPowerOptions& wanted, bool json);

}  // namespace assay
