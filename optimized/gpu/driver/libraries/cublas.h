// cuBLASLt, found at run time: products of matrices on a device's stream. Errors are values with
// what was attempted; nothing that a call made is left behind, whichever of its parts fails.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "optimized/gpu/driver/cuda_calls.h"
#include "optimized/gpu/driver/libraries/cublas_calls.h"
#include "optimized/gpu/driver/libraries/device_library.h"
#include "spec/ir/instruction.h"
#include "spec/library/library_call.h"

namespace assay::gpu {

// Products are of floats and complex numbers, with one free and one contracting dimension on each
// side behind the batch.
class CublasLt : public DeviceLibrary {
 public:
  // From `library`, or $ASSAY_LIBCUBLASLT, or libcublasLt.so of versions 13 and 12. Unavailable,
  // with what is missing and how to get it, where there is none. A context is current.
  static absl::StatusOr<std::unique_ptr<CublasLt>> Load(const std::string& library = "");
  ~CublasLt() override;
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;

  std::string_view name() const override { return "cuBLASLt"; }
  bool Takes(const Instruction& instruction) const override;
  absl::Status Run(const Instruction& instruction, const LibraryArrays& arrays) override;

 private:
  CublasLt() = default;
  absl::Status Check(CublasStatus status, std::string_view what) const;

  CublasHandle handle_ = nullptr;
  CublasCalls calls_;
};

}  // namespace assay::gpu
