// Textbook loops within blocks, packed products behind them.
#include "optimized/runtime/linear_algebra/blocked.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "optimized/runtime/kernels/contraction.h"
#include "optimized/runtime/linear_algebra/matrix.h"
#include "optimized/runtime/run_context.h"
#include "spec/types/element_type.h"

namespace assay::linear_algebra {
namespace {

constexpr int64_t kBlock = 64;
constexpr int64_t kColumns = 256;  // of a part of a triangle that is updated at once

}  // namespace

template <typename S>
void Blocked<S>::Subtract(const Product& product, S* target, const S* left, const S* right) const {
  using T = decltype(Real(S()));
  if (product.rows == 0 || product.columns == 0 || product.terms == 0) return;
  ContractionPlan plan;
  plan.isa = static_cast<int64_t>(isa_);
  plan.is_complex = std::is_same_v<S, T> ? 0 : 1;
  plan.lhs_type = plan.rhs_type = plan.sum_type = plan.out_type =
      static_cast<int64_t>(std::is_same_v<T, float> ? ElementType::kF32 : ElementType::kF64);
  plan.m_count = plan.n_count = plan.sum_count = 1;
  plan.m[0] = {product.rows, product.left_row, 0, product.columns};
  plan.n[0] = {product.columns, 0, product.right_column, 1};
  plan.sum[0] = {product.terms, 1, product.right_row, 0};
  const int64_t count = product.rows * product.columns;
  const ScratchPool::Block block = context_.scratch->Take(count * static_cast<int64_t>(sizeof(S)));
  S* sums = block.as<S>();
  Contract(&context_, &plan, left, right, sums);
  for (int64_t i = 0; i < product.rows; ++i) {
    S* row = target + i * product.target_row;
    for (int64_t j = 0; j < product.columns; ++j) row[j] -= sums[i * product.columns + j];
  }
}

// The block on the diagonal, then the rows below it.
template <typename S>
int64_t Blocked<S>::CholeskyOfBlock(S* a, int64_t n, int64_t begin, int64_t end) const {
  for (int64_t i = begin; i < n; ++i) {
    S* row = a + i * n;
    for (int64_t j = begin; j < std::min(i, end); ++j) {
      const S* other = a + j * n;
      S rest = row[j];
      for (int64_t k = begin; k < j; ++k) rest -= row[k] * Conjugate(other[k]);
      row[j] = rest / Real(other[j]);
    }
    if (i >= end) continue;
    auto pivot = Real(row[i]);
    for (int64_t k = begin; k < i; ++k) pivot -= Squared(row[k]);
    if (!(pivot > 0)) return i + 1;  // also where it is NaN
    row[i] = S(std::sqrt(pivot));
  }
  *context_.work += (n - begin) * (end - begin) * (end - begin) / 2;
  return 0;
}

template <typename S>
int64_t Blocked<S>::Cholesky(S* a, int64_t n) const {
  std::vector<S> conjugates;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = std::min(n, begin + kBlock), width = end - begin;
    if (const int64_t failed = CholeskyOfBlock(a, n, begin, end); failed != 0) return failed;
    conjugates.resize(static_cast<size_t>((n - end) * width));
    for (int64_t i = end; i < n; ++i)
      for (int64_t k = 0; k < width; ++k)
        conjugates[(i - end) * width + k] = Conjugate(a[i * n + begin + k]);
    for (int64_t first = end; first < n; first += kColumns) {
      const int64_t columns = std::min(kColumns, n - first);
      Subtract({.rows = n - first,
                .columns = columns,
                .terms = width,
                .target_row = n,
                .left_row = n,
                .right_row = 1,
                .right_column = width},
               a + first * n + first, a + first * n + begin,
               conjugates.data() + (first - end) * width);
    }
  }
  return 0;
}

template <typename S>
void Blocked<S>::SolveTriangular(const S* t, bool lower, bool unit_diagonal, S* x, int64_t n,
                                 int64_t columns) const {
  for (int64_t done = 0; done < n; done += kBlock) {
    const int64_t width = std::min(kBlock, n - done);
    const int64_t begin = lower ? done : n - done - width;
    for (int64_t step = 0; step < width; ++step) {
      const int64_t i = lower ? begin + step : begin + width - 1 - step;
      S* row = x + i * columns;
      for (int64_t before = 0; before < step; ++before) {
        const int64_t k = lower ? begin + before : begin + width - 1 - before;
        const S factor = t[i * n + k];
        const S* known = x + k * columns;
        for (int64_t j = 0; j < columns; ++j) row[j] -= factor * known[j];
      }
      if (unit_diagonal) continue;
      const S pivot = t[i * n + i];
      for (int64_t j = 0; j < columns; ++j) row[j] /= pivot;
    }
    *context_.work += width * width * columns / 2;
    const int64_t rest = lower ? begin + width : 0;
    Subtract({.rows = n - done - width,
              .columns = columns,
              .terms = width,
              .target_row = columns,
              .left_row = n,
              .right_row = columns,
              .right_column = 1},
             x + rest * columns, t + rest * n + begin, x + begin * columns);
  }
}

template <typename S>
int64_t Blocked<S>::LuOfPanel(S* a, int64_t rows, int64_t columns, int64_t begin, int64_t end,
                              std::vector<int64_t>& pivots) const {
  int64_t failed = 0;
  for (int64_t k = begin; k < end; ++k) {
    int64_t best = k;
    for (int64_t i = k + 1; i < rows; ++i)
      if (PivotSize(a[i * columns + k]) > PivotSize(a[best * columns + k])) best = i;
    pivots.push_back(best);
    S* pivot_row = a + k * columns;
    if (best != k) std::swap_ranges(pivot_row, pivot_row + columns, a + best * columns);
    const S pivot = pivot_row[k];
    if (pivot == S(0)) {
      if (failed == 0) failed = k + 1;
      continue;
    }
    for (int64_t i = k + 1; i < rows; ++i) {
      S* row = a + i * columns;
      const S factor = row[k] / pivot;
      row[k] = factor;
      for (int64_t j = k + 1; j < end; ++j) row[j] -= factor * pivot_row[j];
    }
  }
  *context_.work += (rows - begin) * (end - begin) * (end - begin) / 2;
  return failed;
}

template <typename S>
int64_t Blocked<S>::Lu(S* a, int64_t rows, int64_t columns, std::vector<int64_t>& pivots) const {
  const int64_t count = std::min(rows, columns);
  int64_t failed = 0;
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t end = std::min(count, begin + kBlock);
    const int64_t found = LuOfPanel(a, rows, columns, begin, end, pivots);
    if (failed == 0) failed = found;
    // The rows of u beside the panel.
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t k = begin; k < i; ++k) {
        const S factor = a[i * columns + k];
        for (int64_t j = end; j < columns; ++j) a[i * columns + j] -= factor * a[k * columns + j];
      }
    }
    *context_.work += (end - begin) * (end - begin) * (columns - end) / 2;
    Subtract({.rows = rows - end,
              .columns = columns - end,
              .terms = end - begin,
              .target_row = columns,
              .left_row = columns,
              .right_row = columns,
              .right_column = 1},
             a + end * columns + end, a + end * columns + begin, a + begin * columns + end);
  }
  return failed;
}

template class Blocked<float>;
template class Blocked<double>;
template class Blocked<std::complex<float>>;
template class Blocked<std::complex<double>>;

}  // namespace assay::linear_algebra
