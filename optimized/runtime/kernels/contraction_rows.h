// Contractions of a few rows with an operand that is large and lies in order: it is read once, as
// it lies, line by line.
#pragma once

#include "optimized/runtime/kernels/contraction_finish.h"
#include "optimized/runtime/kernels/contraction_sides.h"

namespace assay {

struct RunContext;

// True if RunByRows has code for it, and faster one than tiles are. It depends on shapes and types
// alone: sums are not interrupted here, so that their bits differ from those of tiles.
bool RunsByRows(const ContractionPlan& plan, const ContractionSides& sides);

// `out`: the result at the plan's start. The sides know their data. `finish` as in RunTiles.
void RunByRows(RunContext* context, const ContractionPlan& plan, const ContractionSides& sides,
               void* out, const ContractionFinish* finish);

}  // namespace assay
