// Tiles of contractions for SSE2, which every x86-64 processor has.
#include <immintrin.h>

#include "optimized/runtime/kernels/micro_kernels.h"

#define ASSAY_VECTOR_BYTES 16
#define ASSAY_MAX_ROWS 4
#define ASSAY_MULTIPLY_PAIRS(a, b) _mm_madd_epi16((__m128i)(a), (__m128i)(b))

namespace assay::baseline {
#include "optimized/runtime/kernels/micro_kernel_body.inc"
}  // namespace assay::baseline
