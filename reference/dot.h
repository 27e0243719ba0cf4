// Parts of dot: which elements of the operands belong to a result element.
#pragma once

#include "reference/index_map.h"

namespace assay::reference {

// Result element (b, m, n), in this order row-major, is the sum over k of
// lhs[b, m, k] * rhs[b, n, k], where b, m, n, k count batch, free and contracted dimensions in
// their orders. Document: operation semantics chapter 11, DotGeneral.
struct DotGeometry {
  int64_t batch = 1, rows = 1, columns = 1, depth = 1;
  IndexMap lhs;  // linear index of lhs[b, m, k]
  IndexMap rhs;  // linear index of rhs[b, n, k]
};
DotGeometry GeometryOfDot(const OpContext& op);

absl::Status BoundDot(const OpContext& op, Array& result);

}  // namespace assay::reference
