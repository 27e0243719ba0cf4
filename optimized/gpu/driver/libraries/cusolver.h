// cuSOLVER and cuFFT, found at run time: Cholesky factors and Fourier transforms on a device's
// stream.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "optimized/gpu/driver/libraries/device_library.h"

namespace assay::gpu {

// From `library`, or $ASSAY_LIBCUSOLVER, or libcusolver.so of versions 12 and 11. A context is
// current. It takes calls of __cusolver$cholesky, a matrix after the other.
absl::StatusOr<std::unique_ptr<DeviceLibrary>> LoadCusolver(const std::string& library = "");

// From `library`, or $ASSAY_LIBCUFFT, or libcufft.so of versions 12 and 11. A context is current.
// It takes forward transforms: the inverse ones of the library leave out their factor.
absl::StatusOr<std::unique_ptr<DeviceLibrary>> LoadCufft(const std::string& library = "");

}  // namespace assay::gpu
