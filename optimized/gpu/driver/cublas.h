// cuBLASLt, found at run time: products of matrices on a device's stream. Errors are values with
// what was attempted; nothing that a call made is left behind, whichever of its parts fails.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "optimized/gpu/driver/cublas_calls.h"
#include "optimized/gpu/driver/cuda_calls.h"
#include "spec/ir/instruction.h"
#include "spec/library/library_call.h"

namespace assay::gpu {

// Addresses of the arrays of a call, on the device.
struct ProductAddresses {
  uint64_t a = 0, b = 0, c = 0, bias = 0, result = 0;
};

class CublasLt {
 public:
  // From `library`, or $ASSAY_LIBCUBLASLT, or libcublasLt.so of versions 13 and 12. Unavailable,
  // with what is missing and how to get it, where there is none. A context is current.
  static absl::StatusOr<std::unique_ptr<CublasLt>> Load(const std::string& library = "");
  ~CublasLt();
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;

  // True for products that the library takes: of floats and complex numbers, with one free and one
  // contracting dimension on each side behind the batch.
  static bool Takes(const Instruction& instruction, const LibraryCall& call);
  // Puts the product on the stream. Takes(instruction, call).
  absl::Status Multiply(const Instruction& instruction, const LibraryCall& call,
                        const ProductAddresses& at, CudaHandle stream) const;

 private:
  CublasLt() = default;
  absl::Status Check(CublasStatus status, std::string_view what) const;

  void* library_ = nullptr;
  CublasHandle handle_ = nullptr;
  CublasCalls calls_;
};

}  // namespace assay::gpu
