// Plain values of ops whose elements are sums of products: dot, convolution. Document: operation
// semantics chapter 11, "Accumulation and result type".
#pragma once

#include "reference/values/op_context.h"
#include "reference/values/product_sums.h"

namespace assay::reference {

// `result` is the sums: modulo 2^N for integers, and/or for predicates, accumulated wide and
// rounded once for floats. unsupported: element types of operands or result that have no meaning.
absl::Status EvaluateProductSums(const OpContext& op, const ProductSums& sums, Literal& result);

// Evaluates or bounds the op by `evaluate` and `bound`, on factors and for sums of the types that
// it has them in (spec/ops/factor_type.h): most often those of the op itself.
using EvaluateSumsFn = absl::Status (*)(const OpContext& op, Literal& sums);
using BoundSumsFn = absl::Status (*)(const OpContext& op, Array& sums);
absl::Status EvaluateInTypes(const OpContext& op, EvaluateSumsFn evaluate, Literal& result);
absl::Status BoundInTypes(const OpContext& op, EvaluateSumsFn evaluate, BoundSumsFn bound,
                          Array& result);

}  // namespace assay::reference
