// Factors of large matrices and systems with triangular ones, block by block: what is left of the
// matrix behind a block is updated by the packed products of contraction.h. All matrices lie row by
// row. Document: operation semantics chapter 11; LAPACK's definitions of its routines.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "optimized/runtime/kernels/micro_kernels.h"

namespace assay {
struct RunContext;
}

namespace assay::linear_algebra {

// S: float, double, or complex numbers of these.
template <typename S>
class Blocked {
 public:
  Blocked(RunContext& context, KernelIsa isa) : context_(context), isa_(isa) {}

  // The lower triangle of a, n by n, becomes the factor l with a = l lᴴ; only real parts of the
  // diagonal are read. Returns the number of the first pivot that is not positive, from 1, or 0.
  int64_t Cholesky(S* a, int64_t n) const;

  // x, n rows of `columns`, becomes the solution of t y = x; the other triangle of t is not read.
  void SolveTriangular(const S* t, bool lower, bool unit_diagonal, S* x, int64_t n,
                       int64_t columns) const;

  // a becomes l u of its permuted rows, the ones of l's diagonal left out. Row k was exchanged with
  // row pivots[k]. Returns the number of the first pivot that is zero, from 1, or 0.
  int64_t Lu(S* a, int64_t rows, int64_t columns, std::vector<int64_t>& pivots) const;

 private:
  // The places of a product's factors and of what it is subtracted from; steps between rows and
  // columns.
  struct Product {
    int64_t rows, columns, terms;
    int64_t target_row;
    int64_t left_row;
    int64_t right_row, right_column;
  };
  // target -= left right.
  void Subtract(const Product& product, S* target, const S* left, const S* right) const;
  int64_t CholeskyOfBlock(S* a, int64_t n, int64_t begin, int64_t end) const;
  int64_t LuOfPanel(S* a, int64_t rows, int64_t columns, int64_t begin, int64_t end,
                    std::vector<int64_t>& pivots) const;

  RunContext& context_;
  KernelIsa isa_;
};

extern template class Blocked<float>;
extern template class Blocked<double>;
extern template class Blocked<std::complex<float>>;
extern template class Blocked<std::complex<double>>;

}  // namespace assay::linear_algebra
