// Tiles of contractions for AVX-512 (F, BW, DQ, VL).
#include <immintrin.h>

#include "optimized/runtime/kernels/micro_kernels.h"

#define ASSAY_VECTOR_BYTES 64
#define ASSAY_MAX_ROWS 12
#define ASSAY_FUSED_F32(a, b, c) _mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c))
#define ASSAY_FUSED_F64(a, b, c) _mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c))
#define ASSAY_FUSED_ONE_F32(a, b, c) __builtin_fmaf(a, b, c)
#define ASSAY_FUSED_ONE_F64(a, b, c) __builtin_fma(a, b, c)
#define ASSAY_MULTIPLY_PAIRS(a, b) _mm512_madd_epi16((__m512i)(a), (__m512i)(b))

namespace assay::avx512 {
#include "optimized/runtime/kernels/micro_kernel_body.inc"
}  // namespace assay::avx512
