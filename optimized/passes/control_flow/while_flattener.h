// Loops whose state is a tuple of tuples get one of a single level: passes look at its elements one
// by one. Document: HLO passes, "While loop simplifier".
#pragma once

#include "optimized/gates/gates.h"

namespace assay {

// True if `loop` was replaced by one with a flat state. The loop's callees are copied: what was
// known of the old ones is not known of the new ones.
bool FlattenState(Instruction* loop, Gates& gates);

}  // namespace assay
