// Calls of NVIDIA's libraries as XLA:GPU writes them into HLO: custom calls whose target names a
// routine of cuBLAS, cuDNN or cuSOLVER, with a backend_config in JSON. This says which there are
// and what a call says; what it computes is the oracle's business and the compiler's. Documents:
// HLO passes, GPU group ("GEMM rewriter", "GPU conv rewriter", "cuDNN batchnorm rewriter",
// "cuSolver rewriter"); the fields are those of XLA's backend_configs.proto.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "spec/ir/instruction.h"
#include "spec/library/library_config.h"

namespace assay {

enum class LibraryRoutine : uint8_t {
  kGemm,                // alpha A B + beta C
  kGemmLt,              // likewise, then a bias and an activation
  kConvForward,         // scale conv(x, w)
  kConvBackwardInput,   // the gradient of x, from that of the output and w
  kConvBackwardFilter,  // the gradient of w, from x and that of the output
  kConvBiasActivation,  // activation(scale conv(x, w) + side scale side + bias)
  kNormInference,
  kNormTraining,  // gives y, the mean and 1/sqrt(variance + epsilon)
  kNormBackward,  // takes 1/sqrt(variance + epsilon) in the place of the variance
  kCholesky,      // gives the matrix with the factor in its triangle, a workspace, and an info
};
constexpr int kLibraryRoutineCount = static_cast<int>(LibraryRoutine::kCholesky) + 1;

struct LibraryTarget {
  LibraryRoutine routine;
  std::string_view name;     // custom_call_target
  std::string_view library;  // "cuBLASLt"
  std::string_view summary;
};
// In the order of LibraryRoutine.
absl::Span<const LibraryTarget> LibraryTargets();
const LibraryTarget& TargetOf(LibraryRoutine routine);
// nullptr: not one of them.
const LibraryTarget* FindLibraryTarget(std::string_view name);
bool IsLibraryCall(const Instruction& instruction);
bool IsConvolution(LibraryRoutine routine);

// One call, read and found sound: operands, result, attributes and config fit each other.
struct LibraryCall {
  LibraryRoutine routine = LibraryRoutine::kGemm;
  GemmConfig gemm;
  ConvConfig conv;
  bool lower = false;         // cholesky
  int64_t feature_index = 0;  // norms
  int64_t addend = -1;        // the operand C, or the side input; -1: none
  int64_t bias = -1;          // the operand; -1: none
  // The array that the routine computes, the first one of a tuple.
  const Shape* result = nullptr;
};

// Errors name the instruction: rejected, where the call contradicts itself; unsupported, where it
// is something that nobody here has a meaning for. `instruction` is a library call.
absl::StatusOr<LibraryCall> ReadLibraryCall(const Instruction& instruction);
// The verifier asks this of any instruction: an error where ReadLibraryCall rejects it, and for
// names of cuDNN's batch norms that do not exist.
absl::Status CheckLibraryCall(const Instruction& instruction);

// The arrays of a convolution call by the part they play in the forward convolution, whose window,
// labels and groups are those of the call: a gradient is the result, and what it is made of
// operands.
struct ConvShapes {
  const Shape* input;
  const Shape* filter;
  const Shape* output;
};
ConvShapes ConvShapesOf(LibraryRoutine routine, const Instruction& instruction,
                        const Shape& result);

}  // namespace assay
