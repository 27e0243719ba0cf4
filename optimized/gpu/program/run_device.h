// The device that a program of launches runs on: the simulator, or a GPU behind its driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "optimized/gpu/driver/cublas.h"
#include "optimized/gpu/driver/cuda_driver.h"
#include "optimized/gpu/driver/module_image.h"
#include "optimized/gpu/simulator/simulator.h"

namespace assay::gpu {

// Memory and launches of one run, in the order of the calls. What was allocated is given back with
// the object.
class RunDevice {
 public:
  virtual ~RunDevice() = default;
  virtual absl::StatusOr<uint64_t> Allocate(uint64_t bytes, std::string_view name) = 0;
  virtual absl::Status CopyIn(uint64_t address, absl::Span<const std::byte> bytes) = 0;
  virtual absl::Status CopyOut(uint64_t address, absl::Span<std::byte> bytes) = 0;
  virtual absl::Status CopyWithin(uint64_t to, uint64_t from, uint64_t bytes) = 0;
  // Another value begins to live there; devices that do not watch need not know.
  virtual absl::Status Forget(uint64_t address, uint64_t bytes) = 0;
  virtual absl::Status Launch(const DecodedKernel& kernel, const LaunchShape& shape,
                              absl::Span<const KernelArgument> arguments) = 0;
  // A library call on arrays of the device, one address per operand and for the first result.
  // False: this device has no library for it.
  virtual absl::StatusOr<bool> CallLibrary(const Instruction& instruction,
                                           absl::Span<const uint64_t> operands, uint64_t result) {
    static_cast<void>(instruction), static_cast<void>(operands), static_cast<void>(result);
    return false;
  }
  virtual uint64_t bytes_in_use() const = 0;
};

// `simulator` outlives the device.
std::unique_ptr<RunDevice> MakeSimulatedDevice(Simulator& simulator, uint64_t memory_limit);

// Loads the image. `session` outlives the device.
// `cublas` may be null.
absl::StatusOr<std::unique_ptr<RunDevice>> MakeCudaDevice(CudaSession& session,
                                                          const CublasLt* cublas,
                                                          const KernelImage& image);

}  // namespace assay::gpu
