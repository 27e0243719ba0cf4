// The GPUs of this process, each opened when it is first needed.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "optimized/gpu/driver/cuda_driver.h"
#include "optimized/gpu/driver/libraries/device_libraries.h"
#include "optimized/gpu/driver/libraries/nccl.h"
#include "optimized/gpu/target/architecture.h"

namespace assay::gpu {

// One GPU. The handles of its libraries belong to its context.
struct CudaHostDevice {
  CudaHostDevice() = default;
  ~CudaHostDevice();
  CudaHostDevice(const CudaHostDevice&) = delete;
  CudaHostDevice& operator=(const CudaHostDevice&) = delete;

  std::unique_ptr<CudaSession> session;
  DeviceLibraries libraries;
};

struct CudaHost {
  int device_count() const { return driver->device_count(); }
  // The one for which code is made.
  const CudaHostDevice& first() const { return *devices[0]; }

  std::unique_ptr<CudaDriver> driver;
  std::vector<std::unique_ptr<CudaHostDevice>> devices;  // by number; null: not opened yet
  // For programs of several devices, and why it is not there where it is not.
  std::unique_ptr<Nccl> nccl;
  std::string no_nccl;
  const Architecture* architecture = nullptr;  // the newest known one that GPU 0 runs
  std::mutex running;                          // of one program at a time
};

// Unavailable, with what is missing and how to get it, where there is none. GPU 0 is open, and its
// context is that of this thread. A context that was lost stays so until the process ends.
absl::StatusOr<std::shared_ptr<CudaHost>> OpenCudaHost();
// Opens a GPU unless it is, and makes its context that of this thread. `host.running` is held, or
// it is open already. Unavailable where it cannot run what was compiled for GPU 0.
absl::StatusOr<CudaHostDevice*> EnterDevice(CudaHost& host, size_t number);
// The next OpenCudaHost opens another one, as a new process would: for tests of lost contexts.
void ForgetCudaHost();

}  // namespace assay::gpu
