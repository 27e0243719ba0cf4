// Bounds of ops whose elements are sums of products: dot, convolution. Document: operation
// semantics chapter 11, "Accumulation and result type".
#pragma once

#include "reference/values/op_context.h"
#include "reference/values/product_sums.h"

namespace assay::reference {

// Fills the bounds of `result`, whose literal is the plain value: sums of the products in any
// order, each of them rounded or not.
void BoundProductSums(const OpContext& op, const ProductSums& sums, Array& result);

}  // namespace assay::reference
