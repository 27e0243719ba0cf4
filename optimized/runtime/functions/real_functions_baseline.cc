// Compiled for any machine: the C library multiplies and adds with one rounding.
#include "optimized/runtime/functions/function_table.h"
#include "optimized/runtime/functions/real_functions.h"

namespace assay {

absl::Span<const RuntimeSymbol> RealFunctionsBaseline() { return Table(); }

absl::Span<const RuntimeSymbol> RealFunctions() {
  const bool has_fma = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has_fma ? RealFunctionsWithFma() : RealFunctionsBaseline();
}

}  // namespace assay
