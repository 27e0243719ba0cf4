// Collective-permute that writes slices of one array into another, in place. Document: hlo-format
// 4 (collective-permute with slice_sizes).
#pragma once

#include <utility>
#include <vector>

#include "reference/interpreter/interpreter.h"

namespace assay::reference {

// given[m]: device m's arrays to read, arrays to write, starts in the first ones, starts in the
// second ones. Arrays are one or a tuple; starts of one array are a tuple of an index per
// dimension, or a tuple of such tuples, each with its list of slice_sizes. Device t gets its own
// arrays to write, with the slices in them that the source of the pair (source, t) read.
// UNSPECIFIED(hlo-format 4): whose starts in the written arrays count. Errors: starts of the two
// devices that differ (unsupported), slices that do not fit (rejected).
absl::StatusOr<std::vector<std::vector<Value>>> PermuteSlices(
    Interpreter& interpreter, const OpContext& op,
    const std::vector<std::pair<int64_t, int64_t>>& pairs,
    const std::vector<std::vector<Value>>& given);

}  // namespace assay::reference
