// Tiles of contractions for AVX-512 (F, BW, DQ, VL).
#include <immintrin.h>

#include "optimized/runtime/kernels/micro_kernels.h"

#define ASSAY_VECTOR_BYTES 64
#define ASSAY_MAX_ROWS 12
#define ASSAY_MULTIPLY_PAIRS(a, b) _mm512_madd_epi16((__m512i)(a), (__m512i)(b))

namespace assay::avx512 {
#include "optimized/runtime/kernels/micro_kernel_body.inc"
}  // namespace assay::avx512
