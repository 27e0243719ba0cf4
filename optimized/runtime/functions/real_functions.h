// Functions of f64, and of complex numbers, for compiled code that calls them. Those that are
// otherwise emitted compute by the same formulas and give the same bits; so do those of GPUs
// (optimized/runtime/device).
#pragma once

#include "absl/types/span.h"
#include "optimized/runtime/symbols.h"

namespace assay {

// Each by its name in compiled code: void(double* values, int64_t count), in place, and of two
// arguments void(double* x, const double* y, int64_t count), the results in place of x.
absl::Span<const RuntimeSymbol> RealFunctions();

// The functions made for machines with a fused multiply-add, and those for any machine.
absl::Span<const RuntimeSymbol> RealFunctionsWithFma();
absl::Span<const RuntimeSymbol> RealFunctionsBaseline();

}  // namespace assay
