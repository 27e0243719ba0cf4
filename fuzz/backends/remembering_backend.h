// A compiler elsewhere that is asked about the same program again and again, as triage and the
// reducer do with other inputs: the executables that it made last are kept.
#pragma once

#include <memory>

#include "spec/backend/backend.h"

namespace assay {

// Compiles with `compiler`, which must outlive the result, unless the program with the same options
// is among the last `most` that it took. Options that have it write files are always passed on.
// What was compiled in a process that has died since is compiled again by who made it.
std::unique_ptr<Backend> Remembering(Backend& compiler, size_t most = 8);

}  // namespace assay
