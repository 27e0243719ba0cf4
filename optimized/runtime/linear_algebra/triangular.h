// Factors and solutions of small dense systems, row-major, one matrix after another. f16 and
// bf16 are computed in f32 and rounded once. Document: operation semantics chapter 11.
#pragma once

#include <cstdint>

namespace assay {

struct RunContext;

enum SolveForm : int64_t {
  kSolveLeft = 1,   // op(a) x = b; otherwise x op(a) = b
  kSolveLower = 2,  // the triangle of `a` as stored
  kSolveUnitDiagonal = 4,
  kSolveTransposed = 8,
  kSolveConjugated = 16,
  // Bits from kSolveIsaShift on: KernelIsa.
};
inline constexpr int kSolveIsaShift = 8;

// The triangular factor of the chosen triangle, zeros in the other; a complex matrix is Hermitian,
// and the imaginary parts of its diagonal are not looked at. NaN everywhere in a matrix with
// a pivot that is not positive. Of the form only kSolveLower counts.
template <typename T>
void Cholesky(RunContext* context, const T* a, T* factor, int64_t matrices, int64_t order,
              int64_t form);

// `columns`: right-hand sides per matrix (columns of b, or its rows).
template <typename T>
void TriangularSolve(RunContext* context, const T* a, const T* b, T* x, int64_t matrices,
                     int64_t order, int64_t columns, int64_t form);

}  // namespace assay
