// Starts of slices that are found at run time: indices as mathematical integers, and all the starts
// that indices which are not unique allow. Document: operation semantics chapter 9.
#pragma once

#include <vector>

#include "reference/values/value.h"

namespace assay::reference {

// More starts than this of one slice are not listed; what depends on them is undecided.
inline constexpr size_t kMaxStarts = 256;

// A code of an index type as an integer. Codes beyond int64 saturate, which is beyond any dimension
// too.
int64_t IndexValue(ElementType type, uint64_t code);

// The starts along dimension `d` are clamped to [low, high].
struct StartRange {
  int64_t d, low, high;
};

// `all` holds starts, the plain one first. Adds to it those that differ along range.d because
// element `element` of `indices` has several possible values. False if that gives more than
// kMaxStarts.
bool AddStarts(const Array& indices, int64_t element, const StartRange& range,
               std::vector<DimVector>& all);

}  // namespace assay::reference
