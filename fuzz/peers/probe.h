// Finds out what a compiler in another process refuses before a campaign begins. Programs are made
// without it, so that none is spent on what is known to be missing.
#pragma once

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "fuzz/generator/program.h"
#include "spec/backend/backend.h"

namespace assay {

// Finds out which element types it takes, by whatever op it takes on them; which of the ops that
// all programs are made of; and which recipes on which of those types, by small programs, several
// as one. Notes in `options` what ends in "unsupported" or, of types and plain ops, "rejected". A
// recipe that only now and then draws what is refused stays. Takes some seconds, 120 at most, and
// what was not tried by then stays in; the answers of a release of XLA are kept (refusals.h), and
// the next campaign need not ask. Says for people how it came to know. Errors: unsupported, where
// nothing at all is taken, with what was said of it.
absl::StatusOr<std::string> ProbePeer(Backend& backend, GeneratorOptions& options);

}  // namespace assay
