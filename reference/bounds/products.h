// Bounds of ops whose elements are sums of products: dot, convolution. Document: operation
// semantics chapter 11, "Accumulation and result type".
#pragma once

#include "reference/values/op_context.h"
#include "reference/values/product_sums.h"

namespace assay::reference {

// Fills the bounds of `result`, whose literal is the plain value: sums of the products in any
// order, each of them rounded or not.
void BoundProductSums(const OpContext& op, const ProductSums& sums, Array& result);

// True if element i of an operand is a number, but may be an infinity once it has lost the bits
// that its factors may lose (ClauseId::kNarrowFactors).
bool MayOverflowAsFactor(const OpContext& op, int64_t operand, int64_t i);

}  // namespace assay::reference
