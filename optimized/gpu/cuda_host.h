// The GPU of this process, opened when it is first needed.
#pragma once

#include <memory>
#include <mutex>

#include "absl/status/statusor.h"
#include "optimized/gpu/driver/cuda_driver.h"
#include "optimized/gpu/driver/libraries/device_libraries.h"
#include "optimized/gpu/target/architecture.h"

namespace assay::gpu {

struct CudaHost {
  std::unique_ptr<CudaDriver> driver;
  std::unique_ptr<CudaSession> session;
  DeviceLibraries libraries;
  const Architecture* architecture = nullptr;  // the newest known one that the GPU runs
  std::mutex running;                          // a session is for one thread at a time
};

// Unavailable, with what is missing and how to get it, where there is none. A context that was lost
// stays so until the process ends.
absl::StatusOr<std::shared_ptr<CudaHost>> OpenCudaHost();
// The next OpenCudaHost opens another one, as a new process would: for tests of lost contexts.
void ForgetCudaHost();

}  // namespace assay::gpu
