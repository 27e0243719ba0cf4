// Finds out what a compiler in another process refuses before a campaign begins. Programs are made
// without it, so that none is spent on what is known to be missing.
#pragma once

#include <map>
#include <string>

#include "fuzz/generator/program.h"
#include "spec/backend/backend.h"

namespace assay {

// Compiles a small program of every recipe on every usual element type, several as one, and one of
// every element type, and notes in `options` what ends in "unsupported" (a type also by
// "rejected"). A recipe that only now and then draws what is refused stays. Takes some seconds, 120
// at most, and what was not tried by then stays in; the answers of a release of XLA are kept
// (refusals.h), and the next campaign need not ask. Says for people how it came to know.
std::string ProbePeer(Backend& backend, GeneratorOptions& options);

}  // namespace assay
