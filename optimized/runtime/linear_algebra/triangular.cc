// Converts elements to the type that is computed in, and triangles to the form that blocks take.
#include "optimized/runtime/linear_algebra/triangular.h"

#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>
#include <vector>

#include "optimized/runtime/linear_algebra/blocked.h"
#include "optimized/runtime/linear_algebra/matrix.h"
#include "optimized/runtime/run_context.h"
#include "spec/types/native.h"

namespace assay {

namespace {
template <typename T>
struct Wide {
  using Type = std::conditional_t<std::is_same_v<T, double>, double, float>;
};
template <typename T>
struct Wide<std::complex<T>> {
  using Type = std::complex<T>;
};
template <typename T>
using Working = typename Wide<T>::Type;

template <typename T>
T NotANumber() {
  using Real = decltype(linear_algebra::Real(T()));
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  if constexpr (std::is_same_v<T, Real>) {
    return nan;
  } else {
    return T(nan, nan);
  }
}

KernelIsa IsaOf(int64_t form) { return static_cast<KernelIsa>(form >> kSolveIsaShift); }

}  // namespace

template <typename T>
void Cholesky(RunContext* context, const T* a, T* factor, int64_t matrices, int64_t order,
              int64_t form) {
  using W = Working<T>;
  const linear_algebra::Blocked<W> blocked(*context, IsaOf(form));
  const bool lower = (form & kSolveLower) != 0;
  const int64_t n = order;
  std::vector<W> l(n * n);
  for (int64_t m = 0; m < matrices; ++m, a += n * n, factor += n * n) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j <= i; ++j) {
        l[i * n + j] = lower ? static_cast<W>(a[i * n + j])
                             : linear_algebra::Conjugate(static_cast<W>(a[j * n + i]));
      }
    }
    const bool positive = blocked.Cholesky(l.data(), n) == 0;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        const bool inside = lower ? j <= i : i <= j;
        W value = 0;
        // The diagonal is real: its imaginary zeros keep their sign.
        if (inside)
          value = lower || i == j ? l[i * n + j] : linear_algebra::Conjugate(l[j * n + i]);
        if (!positive) value = NotANumber<W>();
        factor[i * n + j] = static_cast<T>(value);
      }
    }
  }
}

template <typename T>
void TriangularSolve(RunContext* context, const T* a, const T* b, T* x, int64_t matrices,
                     int64_t order, int64_t columns, int64_t form) {
  using W = Working<T>;
  const linear_algebra::Blocked<W> blocked(*context, IsaOf(form));
  const bool left = (form & kSolveLeft) != 0;
  const bool unit = (form & kSolveUnitDiagonal) != 0;
  const bool transposed = (form & kSolveTransposed) != 0;
  const bool conjugated = (form & kSolveConjugated) != 0;
  // x op(a) = b is the system with the transpose of op(a).
  const bool swapped = transposed == left;
  const bool lower = ((form & kSolveLower) != 0) != swapped;  // of the matrix that is solved with
  const int64_t n = order, count = n * columns;
  std::vector<W> matrix(n * n), solution(count);
  for (int64_t m = 0; m < matrices; ++m, a += n * n, b += count, x += count) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        const W value = static_cast<W>(swapped ? a[j * n + i] : a[i * n + j]);
        matrix[i * n + j] = conjugated ? linear_algebra::Conjugate(value) : value;
      }
    }
    const auto place = [&](int64_t row, int64_t column) {
      return left ? row * columns + column : column * n + row;
    };
    for (int64_t i = 0; i < n; ++i)
      for (int64_t c = 0; c < columns; ++c)
        solution[i * columns + c] = static_cast<W>(b[place(i, c)]);
    blocked.SolveTriangular(matrix.data(), lower, unit, solution.data(), n, columns);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t c = 0; c < columns; ++c)
        x[place(i, c)] = static_cast<T>(solution[i * columns + c]);
  }
}

#define ASSAY_INSTANTIATE(T)                                                                       \
  template void Cholesky<T>(RunContext*, const T*, T*, int64_t, int64_t, int64_t);                 \
  template void TriangularSolve<T>(RunContext*, const T*, const T*, T*, int64_t, int64_t, int64_t, \
                                   int64_t);
ASSAY_INSTANTIATE(float)
ASSAY_INSTANTIATE(double)
ASSAY_INSTANTIATE(Half)
ASSAY_INSTANTIATE(BFloat16)
ASSAY_INSTANTIATE(std::complex<float>)
ASSAY_INSTANTIATE(std::complex<double>)
#undef ASSAY_INSTANTIATE

}  // namespace assay
