// Real functions of f64 as LLVM IR: the formulas of formulas.h on vectors.
#pragma once

#include "optimized/codegen/value_builder.h"

namespace assay {

// The function named `name` (that of the C library, or "logistic") of doubles or vectors of
// doubles; nullptr if it has no formula. Subnormal arguments and results are kept, infinities,
// zeros and NaNs are as in C99.
llvm::Value* EmitDoubleFunction(ValueBuilder& b, std::string_view name,
                                llvm::ArrayRef<llvm::Value*> arguments);

}  // namespace assay
