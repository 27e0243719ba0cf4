// Lets another program decide whether a candidate shows the failure that is being reduced: a
// compiler with its own check, a script that looks for a message.
#pragma once

#include <string>

#include "fuzz/reduce/reducer.h"

namespace assay {

// Writes the module as HLO text (long form) to PATH.hlo and its inputs to PATH.npz (arrays in0,
// in1, ...), as `assay check` reads them. Errors as of WriteFile and WriteInputs.
absl::Status WriteCase(const ReduceCase& reduce_case, const std::string& path);

// Runs `command` by the shell with {} replaced by the path of a candidate that WriteCase wrote; a
// command without {} gets it as its last argument. The candidate shows the failure if the command
// ends with status 0 within `seconds`. What the command prints is dropped.
ReducePredicate MakeCommandPredicate(const std::string& command, double seconds);

}  // namespace assay
