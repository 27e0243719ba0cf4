// cuDNN, found at run time: convolutions and their gradients, on a device's stream.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "optimized/gpu/driver/libraries/device_library.h"

namespace assay::gpu {

// From `library`, or $ASSAY_LIBCUDNN, or libcudnn.so.9. A context is current. It takes convolutions
// of floats with as much padding below as above, whose filters lie as [o, i, space] or
// [o, space, i], and as epilogue a bias, a side input and relu.
absl::StatusOr<std::unique_ptr<DeviceLibrary>> LoadCudnn(const std::string& library = "");

}  // namespace assay::gpu
