// Copies of elements from one array to another together with what is known about them: their bits,
// bounds, choices, errors and origins.
#pragma once

#include "absl/types/span.h"
#include "reference/values/index_map.h"
#include "reference/values/value.h"

namespace assay::reference {

// Elements [to, to + count) of `result` become elements [from, from + count) of `source`, an array
// of the same element type. Linear indices.
void CopyElements(const Array& source, int64_t from, Array& result, int64_t to, int64_t count);

// A range of steps along dimension `d`, the same of two arrays.
struct StepRange {
  int64_t d, from, to, count;
};
// Steps [to, to + count) of `result` along dimension d, with all of its other dimensions, become
// steps [from, from + count) of `source`, which agrees with `result` in the other dimensions.
void CopySteps(const Array& source, const StepRange& steps, Array& result);

// Takes over for element i of `result` all that is known about element map[i] of `operand`;
// MoveElements of reference/values/index_map.h moves the bits.
void MoveBounds(const Array& operand, const IndexMap& map, Array& result);

// Elements map[0], map[1], ... of an array as an array of rank 1.
Value PickElements(const Array& source, absl::Span<const int64_t> map, MemoryMeter& memory);

}  // namespace assay::reference
