// Cholesky factors and triangular solves by the textbook loops.
#include "optimized/runtime/linear_algebra/triangular.h"

#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>
#include <vector>

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
T Conjugate(T x) {
  return x;
}
template <typename T>
std::complex<T> Conjugate(std::complex<T> x) {
  return std::conj(x);
}

template <typename T>
T RealPart(T x) {
  return x;
}
template <typename T>
T RealPart(std::complex<T> x) {
  return x.real();
}
template <typename T>
T NotANumber() {
  using Real = decltype(RealPart(T()));
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  if constexpr (std::is_same_v<T, Real>) {
    return nan;
  } else {
    return T(nan, nan);
  }
}
}  // namespace

// Row by row: each element is what the rows above have left of it.
template <typename T>
void Cholesky(const RunContext* context, const T* a, T* factor, int64_t matrices, int64_t order,
              int64_t lower) {
  using W = Working<T>;
  const int64_t n = order;
  int64_t work = 0;
  std::vector<W> l(n * n);
  for (int64_t m = 0; m < matrices; ++m, a += n * n, factor += n * n) {
    bool positive = true;
    for (int64_t i = 0; i < n && positive; ++i) {
      for (int64_t j = 0; j <= i; ++j) {
        W rest =
            lower != 0 ? static_cast<W>(a[i * n + j]) : Conjugate(static_cast<W>(a[j * n + i]));
        work += j;
        for (int64_t k = 0; k < j; ++k) rest -= l[i * n + k] * Conjugate(l[j * n + k]);
        if (i != j) {
          l[i * n + j] = rest / RealPart(l[j * n + j]);
          continue;
        }
        positive = RealPart(rest) > 0;  // false for NaN
        l[i * n + i] = std::sqrt(RealPart(rest));
      }
    }
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        const bool inside = lower != 0 ? j <= i : i <= j;
        W value = 0;
        // The diagonal is real: its imaginary zeros keep their sign.
        if (inside) value = lower != 0 || i == j ? l[i * n + j] : Conjugate(l[j * n + i]);
        if (!positive) value = NotANumber<W>();
        factor[i * n + j] = static_cast<T>(value);
      }
    }
  }
  *context->work += work;
}

template <typename T>
void TriangularSolve(const RunContext* context, const T* a, const T* b, T* x, int64_t matrices,
                     int64_t order, int64_t columns, int64_t form) {
  using W = Working<T>;
  const bool left = (form & kSolveLeft) != 0;
  const bool unit = (form & kSolveUnitDiagonal) != 0;
  const bool transposed = (form & kSolveTransposed) != 0;
  const bool conjugated = (form & kSolveConjugated) != 0;
  // x op(a) = b is the system with the transpose of op(a).
  const bool swapped = transposed == left;
  const bool lower = ((form & kSolveLower) != 0) != swapped;  // of the matrix that is solved with
  int64_t work = 0;
  std::vector<W> solution(order);
  for (int64_t m = 0; m < matrices; ++m) {
    const T* matrix = a + m * order * order;
    auto coefficient = [&](int64_t row, int64_t column) {
      const W x =
          static_cast<W>(swapped ? matrix[column * order + row] : matrix[row * order + column]);
      return conjugated ? Conjugate(x) : x;
    };
    for (int64_t c = 0; c < columns; ++c) {
      auto place = [&](int64_t row) {
        return m * order * columns + (left ? row * columns + c : c * order + row);
      };
      for (int64_t step = 0; step < order; ++step) {
        const int64_t row = lower ? step : order - 1 - step;
        W rest = static_cast<W>(b[place(row)]);
        work += step;
        for (int64_t done = 0; done < step; ++done) {
          const int64_t column = lower ? done : order - 1 - done;
          rest -= coefficient(row, column) * solution[column];
        }
        solution[row] = unit ? rest : rest / coefficient(row, row);
        x[place(row)] = static_cast<T>(solution[row]);
      }
    }
  }
  *context->work += work;
}

#define ASSAY_INSTANTIATE(T)                                                                    \
  template void Cholesky<T>(const RunContext*, const T*, T*, int64_t, int64_t, int64_t);        \
  template void TriangularSolve<T>(const RunContext*, const T*, const T*, T*, int64_t, int64_t, \
                                   int64_t, int64_t);
ASSAY_INSTANTIATE(float)
ASSAY_INSTANTIATE(double)
ASSAY_INSTANTIATE(Half)
ASSAY_INSTANTIATE(BFloat16)
ASSAY_INSTANTIATE(std::complex<float>)
ASSAY_INSTANTIATE(std::complex<double>)
#undef ASSAY_INSTANTIATE

}  // namespace assay
