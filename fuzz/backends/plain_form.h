// A program as readers of HLO text that go through other forms, such as StableHLO, keep its
// meaning.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "spec/ir/module.h"

namespace assay {

// True if arguments of the module are handed over as more, or fewer, arrays than it has parameters.
bool HasTupleOrTokenParameter(const Module& module);
// Every array of the entry's parameters becomes a parameter of its own, in order; a token is made
// where it is used. Aliases and donors, which no meaning depends on, are dropped. unsupported: a
// parameter that is neither of arrays nor of tokens, or a size that is bound to one.
absl::Status FlattenParameters(Module& module);

// True if the result of the module holds a token; and a module without: its result is the tuple of
// the arrays of what it was.
bool HasTokenResult(const Module& module);
void DropTokens(Module& module);

// True if a module says what StableHLO has no place for: fusions, asynchronous pairs, or bitcasts,
// whose meaning depends on layouts.
bool IsBeyondStableHlo(const Module& module);
// Puts the computations of fusions and of asynchronous calls in their place, an op in place of its
// start and done, and reshapes and transposes in place of bitcasts. What it cannot say otherwise
// stays as it is. Layouts mean nothing afterwards.
void MakePlain(Module& module);

}  // namespace assay
