// Functions of complex numbers for compiled code: parts as doubles in and out. W is the format that
// a function computes in: double for c64, long double for c128, so that the result is rounded once
// from something better than its format. Infinite and NaN parts as in C99 Annex G. Document:
// operation semantics chapters 5 and 6.
#pragma once

#include "absl/types/span.h"
#include "optimized/runtime/symbols.h"

namespace assay {

// "assay_complex_<op>_c64" and "..._c128".
absl::Span<const RuntimeSymbol> ComplexSymbols();

}  // namespace assay
