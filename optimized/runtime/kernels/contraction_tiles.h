// Contractions in tiles of vector registers: packing, blocking and threads.
#pragma once

#include <cstdint>

#include "optimized/runtime/kernels/contraction_finish.h"
#include "optimized/runtime/kernels/contraction_sides.h"

namespace assay {

struct RunContext;

// True if there are tiles for sums of this type, and packing and storing for the others.
bool HasTiles(const ContractionPlan& plan);

// True if RunTiles completes sums that are neighbours in the result together, so that it can finish
// them.
bool CompletesLines(const ContractionPlan& plan, const ContractionSides& sides);

// Runs one plan without batch and without dilated operands. The pointers are at its first elements;
// `sides` is SidesOf(plan), whose data they become. `finish`: nullptr: nothing is left to do.
void RunTiles(RunContext* context, const ContractionPlan& plan, ContractionSides& sides,
              const uint8_t* lhs, const uint8_t* rhs, uint8_t* out,
              const ContractionFinish* finish);

}  // namespace assay
