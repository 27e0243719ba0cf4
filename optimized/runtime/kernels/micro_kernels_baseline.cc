// Tiles of contractions for SSE2, which every x86-64 processor has. There is no fused multiply-add:
// it is made of other instructions, so that results have the bits of the others.
#include <immintrin.h>

#include "optimized/runtime/kernels/micro_kernels.h"

#define ASSAY_VECTOR_BYTES 16
#define ASSAY_MAX_ROWS 4
#define ASSAY_FUSED_F32(a, b, c) FusedFloats((__m128)(a), (__m128)(b), (__m128)(c))
#define ASSAY_FUSED_F64(a, b, c) FusedDoubles((__m128d)(a), (__m128d)(b), (__m128d)(c))
#define ASSAY_FUSED_ONE_F32(a, b, c) __builtin_fmaf(a, b, c)
#define ASSAY_FUSED_ONE_F64(a, b, c) __builtin_fma(a, b, c)
#define ASSAY_MULTIPLY_PAIRS(a, b) _mm_madd_epi16((__m128i)(a), (__m128i)(b))

namespace assay::baseline {
namespace {

// Two products, exact in f64, and sums that are rounded to odd: rounded once more to f32 they are
// what rounding once gives.
inline __m128d RoundedToOdd(__m128d a, __m128d b, __m128d c) {
  typedef long long Bits __attribute__((vector_size(16)));
  typedef double Doubles __attribute__((vector_size(16)));
  const Doubles product = (Doubles)a * (Doubles)b, addend = (Doubles)c;
  const Doubles sum = product + addend, added = sum - product;
  const Doubles error = (product - (sum - added)) + (addend - added);
  const Bits code = (Bits)sum;
  // All ones where it holds; neither where the sum is infinite or NaN.
  const Bits inexact = (error > 0) | (error < 0), even = (code & 1) == 0;
  const Bits outward = (error > 0) == (sum > 0);
  const Bits step = (outward & 2) - 1;
  return (__m128d)(code + (step & inexact & even));
}

inline __m128 FusedFloats(__m128 a, __m128 b, __m128 c) {
  const __m128d low = RoundedToOdd(_mm_cvtps_pd(a), _mm_cvtps_pd(b), _mm_cvtps_pd(c));
  const __m128d high =
      RoundedToOdd(_mm_cvtps_pd(_mm_movehl_ps(a, a)), _mm_cvtps_pd(_mm_movehl_ps(b, b)),
                   _mm_cvtps_pd(_mm_movehl_ps(c, c)));
  return _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
}

inline __m128d FusedDoubles(__m128d a, __m128d b, __m128d c) {
  return __m128d{__builtin_fma(a[0], b[0], c[0]), __builtin_fma(a[1], b[1], c[1])};
}

}  // namespace

#include "optimized/runtime/kernels/micro_kernel_body.inc"
}  // namespace assay::baseline
