// Scalar bodies of reductions, windows, maps, sorts and scatters that say the same in more words: a
// body may hold whatever the verifier admits, and compilers know few forms of it.
#pragma once

#include <cstdint>

#include "fuzz/generator/program.h"

namespace assay {

// Some bodies of what the current scope holds from instruction number `first` on become calls,
// branches, loops, sorts or reductions of what they were (Program::body_percent of 100).
void SayBodiesInMoreWords(Program& program, int64_t first);

}  // namespace assay
