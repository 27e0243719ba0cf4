// Compiled for machines that have a fused multiply-add.
#include "optimized/runtime/functions/real_functions.h"
#include "optimized/runtime/functions/real_functions_table.h"

namespace assay {

absl::Span<const RuntimeSymbol> RealFunctionsWithFma() { return Table(); }

}  // namespace assay
