// The GPU of this process, opened when it is first needed.
#pragma once

#include <memory>
#include <mutex>

#include "absl/status/statusor.h"
#include "optimized/gpu/driver/cublas.h"
#include "optimized/gpu/driver/cuda_driver.h"
#include "optimized/gpu/target/architecture.h"

namespace assay::gpu {

struct CudaHost {
  std::unique_ptr<CudaDriver> driver;
  std::unique_ptr<CudaSession> session;
  std::unique_ptr<CublasLt> cublas;  // null: there is none, as `no_cublas` says
  std::string no_cublas;
  const Architecture* architecture = nullptr;  // the newest known one that the GPU runs
  std::mutex running;                          // a session is for one thread at a time
};

// Unavailable, with what is missing and how to get it, where there is none. A context that was lost
// stays so until the process ends.
absl::StatusOr<std::shared_ptr<CudaHost>> OpenCudaHost();

}  // namespace assay::gpu
