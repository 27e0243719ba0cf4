// Helpers of passes that give a reduce other operands.
#pragma once

#include "absl/types/span.h"
#include "optimized/gates/gates.h"
#include "spec/ir/module.h"
#include "spec/numerics/profile.h"

namespace assay {

// A reduce of static arrays, of one or several operands, that no control dependency holds and whose
// layouts are mere orders of dimensions.
bool IsPlainReduce(const Instruction& inst);
// Operands and initial values are the two halves of the operands.
absl::Span<Instruction* const> ReducedOperands(const Instruction& reduce);
bool IsReduced(const Instruction& reduce, int64_t dimension);

// True if partial results may stand for elements: the function is known, with a value that changes
// nothing, and the profile lets sums be regrouped where they round.
bool MayRegroup(const Computation* function, ElementType type, const Profile& profile);
// That value, for a function of which MayRegroup is true.
Instruction* AddNeutral(Computation* computation, const Computation* function, ElementType type);

// `inst` seen as `shape`, which has the same bytes; itself if that is its shape already.
Instruction* AddBitcast(Instruction* inst, const Shape& shape);

// Puts a reduce of `data` along `dimensions` in the place of `reduce`. Result i of it is
// `results[i]` and is seen as what it was before. Returns true.
bool ReplaceReduce(Rewrite& rewrite, Instruction* reduce, absl::Span<Instruction* const> data,
                   absl::Span<const int64_t> dimensions, absl::Span<const Shape> results);
// The shapes of its results: one, or the elements of the tuple.
absl::Span<const Shape> ReduceResults(const Instruction& reduce);

}  // namespace assay
