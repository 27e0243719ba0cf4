// The innermost loops of contractions, one set per instruction set: a tile of the result held in
// vector registers while the contracted dimension runs. Packing, blocking and threads are above, in
// contraction.h.
#pragma once

#include <cstdint>

namespace assay {

// Adds up, or sets, a tile of `rows` x (vectors * width) sums:
//   c[i * c_stride + j] (+)= sum over p < k of r[p * rows + i] * l[p * l_stride + j]
// For 16-bit integers a step p is a pair: r and l hold two neighbouring terms side by side
// (l_stride counts pairs), and sums are 32 bits. Integers wrap.
using TileFn = void (*)(int64_t k, const void* r, const void* l, int64_t l_stride, void* c,
                        int64_t c_stride, bool add);

// The types of a tile: of the packed operands and of the sums.
enum class TileType : uint8_t { kF32, kF64, kPairsS16, kS32, kS64 };
inline constexpr int kTileTypes = 5;

// One pass of a transform of lines that lie side by side: element e of lane l is at e * lanes + l,
// its parts in two arrays. With n = radix m s elements, output (k, j, q) is the j-th sum over
// inputs (i, k, q), i < radix, times e^(-2 pi i k j / (radix m)); inputs are at q + s (k + m i),
// outputs at q + s (radix k + j).
struct FftPassArguments {
  int64_t radix, m, s;
  const void* twiddles;  // for each k those of j = 1 to radix - 1: real part, imaginary part
  const void* roots;     // e^(-2 pi i j / radix), for odd radices
  const void *in_re, *in_im;
  void *out_re, *out_im;
};
inline constexpr int kMaxFftRadix = 13;

// Adds products of few rows and many lanes, term by term in order:
//   sums[i * sums_stride + j] += row_terms[p * rows + i] * lane_terms[p * lane_stride + j]
struct ThinProduct {
  static constexpr int64_t kMaxRows = 8;
  int64_t rows, terms, lanes;
  const void* row_terms;
  const void* lane_terms;
  int64_t lane_stride;
  void* sums;
  int64_t sums_stride;
};

struct MicroKernels {
  static constexpr int kMaxRows = 12;
  int max_rows[kTileTypes];  // of a tile
  int width[kTileTypes];     // sums per vector
  // By type, vectors - 1 (one or two), rows - 1.
  TileFn tile[kTileTypes][2][kMaxRows];
  void (*fft_pass_f32)(const FftPassArguments&);  // width[kF32] lanes
  void (*fft_pass_f64)(const FftPassArguments&);
  // sums[i] += a[i] * b[i]
  void (*multiply_add_f32)(int64_t count, const float* a, const float* b, float* sums);
  void (*multiply_add_f64)(int64_t count, const double* a, const double* b, double* sums);
  void (*thin_f32)(const ThinProduct&);
  void (*thin_f64)(const ThinProduct&);
};

enum class KernelIsa : int64_t { kBaseline = 0, kAvx2 = 1, kAvx512 = 2 };

namespace baseline {
const MicroKernels& Kernels();
}
namespace avx2 {
const MicroKernels& Kernels();
}
namespace avx512 {
const MicroKernels& Kernels();
}

inline const MicroKernels& KernelsFor(KernelIsa isa) {
  switch (isa) {
    case KernelIsa::kAvx512:
      return avx512::Kernels();
    case KernelIsa::kAvx2:
      return avx2::Kernels();
    default:
      return baseline::Kernels();
  }
}

}  // namespace assay
