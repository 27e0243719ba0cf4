// Rebuilding a loop whose state gains or loses elements.
#pragma once

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "spec/ir/module.h"

namespace assay {

// get-tuple-element number `i`.
Instruction* AddElement(Computation* computation, Instruction* tuple, int64_t i);

// A copy of `source` (body or condition of a loop with a tuple as state, which it reads by
// elements) whose parameter has the shape `state`. Old element i is element place[i] of it; -1:
// nothing that matters depends on it, zeros stand for it. The root is the copy of the old root.
// `clones`, if given, receives original -> copy.
Computation* CopyWithState(const Computation& source, const Shape& state,
                           absl::Span<const int64_t> place,
                           absl::flat_hash_map<const Instruction*, Instruction*>* clones = nullptr);

}  // namespace assay
