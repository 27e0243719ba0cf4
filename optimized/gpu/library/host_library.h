// NVIDIA's library routines on the host, by their definitions: what serves library calls in the
// simulator, and behind the stand-ins of the libraries in tests. Sums and epilogues of floats
// narrower than f32 are in f32 and rounded once.
#pragma once

#include "absl/types/span.h"
#include "spec/ir/instruction.h"
#include "spec/library/library_call.h"

namespace assay::gpu {

// Runs a library call that reads as `call`. `operands` and `results` are row-major arrays, by
// operand and by leaf of the result; results are written in full, workspaces with zeros.
void RunOnHost(const Instruction& instruction, const LibraryCall& call,
               absl::Span<const void* const> operands, absl::Span<void* const> results);

// The product of two sides of a matrix product as cuBLASLt names it, element (i, j) of batch b
// being at b * batch_stride + i * row_stride + j * column_stride.
struct MatrixView {
  void* data = nullptr;
  ElementType type = ElementType::kF32;
  int64_t row_stride = 0, column_stride = 0, batch_stride = 0;
};
struct MatrixProduct {
  MatrixView a, b, c, d;  // D = activation(alpha A B + beta C + bias)
  int64_t batches = 1, rows = 0, columns = 0, depth = 0;
  double alpha_real = 1, alpha_imag = 0, beta = 0;
  const void* bias = nullptr;  // of D's type; nullptr: none
  bool bias_by_row = false;    // else by column
  LibraryActivation activation = LibraryActivation::kNone;
};
// The types are those of a GEMM that the verifier takes.
void RunProduct(const MatrixProduct& product);

}  // namespace assay::gpu
