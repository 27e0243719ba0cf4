// What XLA notes about a loop in its backend_config (known_trip_count, known_init_step) is a fact
// that later code goes by, and that the meaning of the module does not have.
#pragma once

#include "spec/ir/module.h"

namespace assay {

// Makes the loops of `module` go by what is noted about them: each runs as often as its trip count
// says, and its counter has the values that its start and step give. The module has the same
// meaning afterwards if the notes are right. False if no loop has a trip count; then nothing
// changed.
bool ApplyLoopFacts(Module& module);

}  // namespace assay
