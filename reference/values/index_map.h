// Data movement as index maps: they say which element of an operand each result element is.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "reference/values/op_context.h"

namespace assay::reference {

// For ops whose result elements all come from operand 0: its linear index per result element.
using IndexMap = std::vector<int64_t>;

// result[i] = operand[map[i]]: MoveElements moves the bits, MoveBounds what is known about them.
absl::Status MoveElements(const Literal& operand, const IndexMap& map, Literal& result);
void MoveBounds(const Array& operand, const IndexMap& map, Array& result);

}  // namespace assay::reference
