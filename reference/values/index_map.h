// Data movement as index maps: they say which element of an operand each result element is.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "reference/values/op_context.h"

namespace assay::reference {

// A linear index of an operand for each element of the result, in row-major order.
using IndexMap = std::vector<int64_t>;

// result[i] = operand[map[i]], bit by bit; what is known about the elements is moved by MoveBounds
// of reference/bounds/copy_elements.h. unsupported: element types that have no storage of 1 to 16
// bytes.
absl::Status MoveElements(const Literal& operand, const IndexMap& map, Literal& result);

}  // namespace assay::reference
