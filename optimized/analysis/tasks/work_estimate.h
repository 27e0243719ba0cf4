// Rough amounts of work, for decisions about optimizing and splitting: counted in operations on one
// element.
#pragma once

#include <cstdint>

#include "spec/ir/module.h"

namespace assay {

// Operations per element of the result of an instruction or a fusion.
int64_t WorkPerElement(const Instruction& instruction);
// Operations of one run of a kernel.
int64_t EstimateKernelWork(const Instruction& instruction);
// Trips of a loop: those that are noted (NotedTripCount), else a hundred.
double EstimateTrips(const Instruction& loop);
// Operations of one run.
int64_t EstimateWork(const Module& module);

}  // namespace assay
