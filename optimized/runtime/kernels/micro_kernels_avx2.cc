// Tiles of contractions for AVX2 with FMA.
#include <immintrin.h>

#include "optimized/runtime/kernels/micro_kernels.h"

#define ASSAY_VECTOR_BYTES 32
#define ASSAY_MAX_ROWS 6
#define ASSAY_MULTIPLY_PAIRS(a, b) _mm256_madd_epi16((__m256i)(a), (__m256i)(b))

namespace assay::avx2 {
#include "optimized/runtime/kernels/micro_kernel_body.inc"
}  // namespace assay::avx2
