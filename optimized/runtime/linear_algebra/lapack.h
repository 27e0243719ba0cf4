// Factorisations as LAPACK's routines have them, on batches of row-major matrices, in double
// precision: results of f32 are rounded once. Document: operation semantics
// chapter 14, CustomCall (class RESID of chapter 11); LAPACK's definitions of its routines.
#pragma once

#include <cstdint>

#include "spec/types/element_type.h"

namespace assay {

struct RunContext;

enum class LapackRoutine : int64_t {
  kLu,        // a -> factors, pivots, info (an expander's: pivots from 0, order of the rows)
  kCholesky,  // a -> factor, info
  kSolve,     // a, b (and a scalar factor of b) -> x with op(a) x = b or x op(a) = b
  kQr,        // a -> R with the reflectors below it, tau
  kReflectorProduct,  // reflectors, tau -> the first columns of their product q
  kReflect,           // reflectors, tau, c -> q c, qᴴ c, c q or c qᴴ
  kHermitianEigen,    // a -> vectors, values ascending, info
  kSingular,          // a -> a, values descending, u, vᴴ, info
  kTridiagonalSolve,  // lower, diagonal, upper, b -> the three, x, info
  kPivotedQr,         // a, columns to begin with -> R with reflectors, columns from 1, tau
  kHessenberg,        // a -> Hessenberg form with the reflectors below it, tau, info
  kTridiagonal,       // a -> a with the reflectors, diagonal, off-diagonal, tau, info
  kGeneralEigen,      // a -> values (of real ones the parts), left and right vectors, info
  kSchur,             // a -> Schur's form, vectors, values as above, number selected (0), info
};

enum LapackForm : int64_t {
  kLapackLower = 1,
  kLapackLeft = 2,
  kLapackUnitDiagonal = 4,
  kLapackTransposed = 8,
  kLapackConjugated = 16,
  kLapackExpander = 32,
  kLapackLeftVectors = 64,
  kLapackRightVectors = 128,
  kLapackFactor = 256,
  kLapackValuesOnly = 512,  // vectors are zeros
};

// Constant data of compiled code: 64-bit integers.
struct LapackPlan {
  int64_t routine = 0, type = 0, isa = 0;       // KernelIsa
  int64_t matrices = 1, rows = 0, columns = 0;  // of operand 0
  int64_t reflectors = 0;                       // numbers in tau; columns of u
  int64_t other_rows = 0, other_columns = 0;    // of b or c; rows of vᴴ
  int64_t form = 0;
  int64_t low = 0, high = 0;  // the rows and columns that take part in a Hessenberg form
};

bool IsLapackType(ElementType type);

// `operands` and `results`: arrays in the order of the call.
void RunLapack(RunContext* context, const LapackPlan* plan, const void* const* operands,
               void* const* results);

}  // namespace assay
