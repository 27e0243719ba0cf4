// Keys by which elements are sorted.
#pragma once

#include "optimized/codegen/value_builder.h"

namespace assay {

// The code of `value` by whose unsigned order it is to be sorted. Without a total order -0 equals
// +0, and NaNs, which no comparison orders, go to the end.
llvm::Value* EmitSortKey(ValueBuilder& builder, ElementType type, llvm::Value* value,
                         bool total_order, bool descending);

}  // namespace assay
