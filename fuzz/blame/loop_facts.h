// What XLA notes about a loop in its backend_config (known_trip_count, known_init_step) is a fact
// that later code goes by, and that the meaning of the module does not have.
#pragma once

#include <string>
#include <vector>

#include "spec/ir/module.h"

namespace assay {

// Makes the loops of `module` go by what is noted about them: each runs as often as its trip count
// says, and, if `with_counters`, its counter has the values that its start and step give. The
// module has the same meaning afterwards if the notes are right. Returns what is noted, in words,
// of each loop that has a trip count: "a loop is taken to run 4 times".
std::vector<std::string> ApplyLoopFacts(Module& module, bool with_counters);

}  // namespace assay
