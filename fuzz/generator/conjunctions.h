// The situations of several attributes at once that programs have to reach: each of them is common
// by itself, and the joint one would be met too seldom if its parts were drawn one by one.
#pragma once

#include "absl/types/span.h"
#include "fuzz/generator/stats.h"

namespace assay {

// Their number of a requirement, which the document of these does not have.
inline constexpr int kConjunction = 60;

struct Conjunction {
  RequirementTrigger trigger;
  // At least so many of 1,000 programs show it: for our compiler, and for others.
  double own_floor, foreign_floor;
};
absl::Span<const Conjunction> AllConjunctions();

// True of ops that say where something begins or ends: edges, ranges, indices, places.
bool HasEdges(Opcode opcode);

}  // namespace assay
