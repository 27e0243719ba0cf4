// Plain values of ops whose elements are sums of products: dot, convolution. Document: operation
// semantics chapter 11, "Accumulation and result type".
#pragma once

#include "reference/values/op_context.h"
#include "reference/values/product_sums.h"

namespace assay::reference {

// `result` is the sums: modulo 2^N for integers, and/or for predicates, accumulated wide and
// rounded once for floats. unsupported: element types of operands or result that have no meaning.
absl::Status EvaluateProductSums(const OpContext& op, const ProductSums& sums, Literal& result);

}  // namespace assay::reference
