// The compilers for GPUs by name, as tests open them: gpu-sim and gpu.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "optimized/gpu/gpu_sim_backend.h"
#include "spec/backend/backend.h"

namespace assay {

// nullptr, and a failure of the test, where it cannot be opened.
inline std::unique_ptr<Backend> OpenGpuBackend(const std::string& name) {
  BackendRegistry registry;
  RegisterGpuSim(registry);
  RegisterGpu(registry);
  absl::StatusOr<std::unique_ptr<Backend>> backend = registry.Create(name);
  EXPECT_TRUE(backend.ok()) << backend.status();
  return backend.ok() ? *std::move(backend) : nullptr;
}

}  // namespace assay
