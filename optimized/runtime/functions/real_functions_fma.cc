// Compiled for machines that have a fused multiply-add.
#include "optimized/runtime/functions/function_table.h"
#include "optimized/runtime/functions/real_functions.h"

namespace assay {

absl::Span<const RuntimeSymbol> RealFunctionsWithFma() { return Table(); }

}  // namespace assay
