// Factors and solutions of small dense systems on GPUs: a warp per matrix, or a thread per
// right-hand side. f16 and bf16 are computed in f32 and rounded once. Document: operation semantics
// chapter 11.
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "optimized/runtime/linear_algebra/triangular.h"
#include "spec/types/float_format.h"

// Waits for all lanes of the warp; what they wrote can be read behind it.
extern "C" [[clang::convergent]] void assay_device_warp_sync();

namespace assay {
namespace {

constexpr int64_t kLanes = 32;

template <typename T>
struct WorkingType {
  using Type = std::conditional_t<std::is_same_v<T, double>, double, float>;
};
template <typename T>
struct WorkingType<std::complex<T>> {
  using Type = std::complex<T>;
};

template <typename W>
W Conjugated(W x) {
  return x;
}
template <typename W>
std::complex<W> Conjugated(std::complex<W> x) {
  return {x.real(), -x.imag()};
}
template <typename W>
W RealOf(W x) {
  return x;
}
template <typename W>
W RealOf(std::complex<W> x) {
  return x.real();
}
template <typename W>
W SquareOf(W x) {
  return x * x;
}
template <typename W>
W SquareOf(std::complex<W> x) {
  return x.real() * x.real() + x.imag() * x.imag();
}

template <typename W>
W NotANumber() {
  using Real = decltype(RealOf(W()));
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  if constexpr (std::is_same_v<W, Real>) {
    return nan;
  } else {
    return W(nan, nan);
  }
}

// Turns the lower triangle of l into the factor; false where a pivot is not positive. All lanes
// work on the rows of a column, and agree on its pivot.
template <typename W>
bool Factorise(W* l, int64_t n, int64_t lane) {
  for (int64_t j = 0; j < n; ++j) {
    auto pivot = RealOf(l[j * n + j]);
    for (int64_t k = 0; k < j; ++k) pivot -= SquareOf(l[j * n + k]);
    if (!(pivot > 0)) return false;  // also where it is NaN
    const auto root = std::sqrt(pivot);
    assay_device_warp_sync();
    if (lane == 0) l[j * n + j] = W(root);
    for (int64_t i = j + 1 + lane; i < n; i += kLanes) {
      W rest = l[i * n + j];
      for (int64_t k = 0; k < j; ++k) rest -= l[i * n + k] * Conjugated(l[j * n + k]);
      l[i * n + j] = rest / root;
    }
    assay_device_warp_sync();
  }
  return true;
}

template <typename T>
void CholeskyOfWarp(const T* a, T* factor, void* scratch, int64_t n, int64_t form, int64_t thread) {
  using W = typename WorkingType<T>::Type;
  const int64_t lane = thread % kLanes, matrix = thread / kLanes;
  const bool lower = (form & kSolveLower) != 0;
  a += matrix * n * n;
  factor += matrix * n * n;
  W* l = static_cast<W*>(scratch) + matrix * n * n;
  for (int64_t at = lane; at < n * n; at += kLanes) {
    const int64_t i = at / n, j = at % n;
    if (j <= i) {
      l[at] = lower ? static_cast<W>(a[at]) : Conjugated(static_cast<W>(a[j * n + i]));
    }
  }
  assay_device_warp_sync();
  const bool positive = Factorise(l, n, lane);
  for (int64_t at = lane; at < n * n; at += kLanes) {
    const int64_t i = at / n, j = at % n;
    W value = 0;
    if (lower ? j <= i : i <= j) {
      // The diagonal is real: its imaginary zeros keep their sign.
      value = lower || i == j ? l[at] : Conjugated(l[j * n + i]);
    }
    factor[at] = static_cast<T>(positive ? value : NotANumber<W>());
  }
}

// One column of op(a) x = b, or one row of x op(a) = b.
template <typename T>
void SolveOne(const T* a, const T* b, T* x, void* scratch, int64_t n, int64_t columns, int64_t form,
              int64_t thread) {
  using W = typename WorkingType<T>::Type;
  const bool left = (form & kSolveLeft) != 0, transposed = (form & kSolveTransposed) != 0;
  const bool conjugated = (form & kSolveConjugated) != 0;
  // x op(a) = b is the system with the transpose of op(a).
  const bool swapped = transposed == left;
  const bool lower = ((form & kSolveLower) != 0) != swapped;  // of the matrix that is solved with
  const int64_t matrix = thread / columns, column = thread % columns;
  a += matrix * n * n;
  b += matrix * n * columns;
  x += matrix * n * columns;
  W* solution = static_cast<W*>(scratch) + thread * n;
  const auto place = [&](int64_t row) { return left ? row * columns + column : column * n + row; };
  const auto element = [&](int64_t i, int64_t j) {
    const W value = static_cast<W>(swapped ? a[j * n + i] : a[i * n + j]);
    return conjugated ? Conjugated(value) : value;
  };
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = lower ? step : n - 1 - step;
    W rest = static_cast<W>(b[place(i)]);
    for (int64_t before = 0; before < step; ++before) {
      const int64_t k = lower ? before : n - 1 - before;
      rest -= element(i, k) * solution[k];
    }
    solution[i] = (form & kSolveUnitDiagonal) != 0 ? rest : rest / element(i, i);
  }
  for (int64_t i = 0; i < n; ++i) x[place(i)] = static_cast<T>(solution[i]);
}

}  // namespace

extern "C" {

#define ASSAY_TYPE(name, T)                                                                        \
  void assay_device_cholesky_##name(const T* a, T* factor, void* scratch, int64_t n, int64_t form, \
                                    int64_t thread) {                                              \
    CholeskyOfWarp<T>(a, factor, scratch, n, form, thread);                                        \
  }                                                                                                \
  void assay_device_triangular_solve_##name(const T* a, const T* b, T* x, void* scratch,           \
                                            int64_t n, int64_t columns, int64_t form,              \
                                            int64_t thread) {                                      \
    SolveOne<T>(a, b, x, scratch, n, columns, form, thread);                                       \
  }
ASSAY_TYPE(f32, float)
ASSAY_TYPE(f64, double)
ASSAY_TYPE(f16, Half)
ASSAY_TYPE(bf16, BFloat16)
ASSAY_TYPE(c64, std::complex<float>)
ASSAY_TYPE(c128, std::complex<double>)
#undef ASSAY_TYPE

}  // extern "C"
}  // namespace assay
