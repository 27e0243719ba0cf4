// Tiles of contractions for AVX2 with FMA.
#include <immintrin.h>

#include "optimized/runtime/kernels/micro_kernels.h"

#define ASSAY_VECTOR_BYTES 32
#define ASSAY_MAX_ROWS 6
#define ASSAY_FUSED_F32(a, b, c) _mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c))
#define ASSAY_FUSED_F64(a, b, c) _mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c))
#define ASSAY_FUSED_ONE_F32(a, b, c) __builtin_fmaf(a, b, c)
#define ASSAY_FUSED_ONE_F64(a, b, c) __builtin_fma(a, b, c)
#define ASSAY_MULTIPLY_PAIRS(a, b) _mm256_madd_epi16((__m256i)(a), (__m256i)(b))

namespace assay::avx2 {
#include "optimized/runtime/kernels/micro_kernel_body.inc"
}  // namespace assay::avx2
