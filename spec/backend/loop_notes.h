// Facts that XLA notes about a loop in its backend_config (known_trip_count, known_init_step).
// XLA's later code goes by them, but they are no part of the meaning of a module.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "spec/ir/module.h"

namespace assay {

// Makes the loops of `module` go by what is noted about them: each runs as often as its trip count
// says, and, if `with_counters`, its counter has the values that its start and step give. The
// module has the same meaning afterwards if the notes are right. Returns what is noted, in words,
// of each loop that has a trip count: "a loop is taken to run 4 times".
std::vector<std::string> ApplyLoopNotes(Module& module, bool with_counters);

// Says in words which of a module's notes is wrong, if `is_wrong` holds of the module whose loops
// go by them; else "". It asks at most twice: about trips, and about counters as well.
std::string WrongLoopNote(const Module& module, const std::function<bool(const Module&)>& is_wrong);

}  // namespace assay
