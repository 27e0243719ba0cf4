// The options of gpu-sim, as written behind "gpu-sim:" or given with a compilation.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "optimized/gpu/cuda_host.h"
#include "optimized/gpu/simulator/simulator.h"
#include "optimized/gpu/target/architecture.h"
#include "optimized/pipeline/pipeline.h"
#include "optimized/runtime/ranks/rank_group.h"

namespace assay::gpu {

struct GpuOptions {
  const Architecture* architecture = FindArchitecture("sm_90");
  SimulatorOptions simulator;
  RankKind ranks = RankKind::kThreads;            // what several devices are
  std::shared_ptr<CudaHost> cuda;                 // of the backend gpu
  bool nccl = false;                              // does collectives of several GPUs
  int streams = 4;                                // that launches may be spread over
  bool graphs = false;                            // stretches that come again are replayed
  bool image_ir = false;                          // the image for the driver holds the IR, too
  bool passes = true;                             // Stage::kOptimize; the required ones run anyway
  PipelineOptions pipeline = {.target = kOnGpu};  // which of them, and the profile
  bool trace = false;        // a record of each pass among the statistics, and the plan
  bool assemble = true;      // by ptxas, where there is one
  std::string image_folder;  // assembled images are kept there; "": nowhere
  std::string llvm_directory, ptx_directory;  // NAME.ll and NAME.ptx go there; "": nowhere
};

// The names of all options, in the order in which messages list them.
absl::Span<const std::string_view> GpuOptionNames();
// Errors (invalid argument) name the option and what it may be.
absl::StatusOr<GpuOptions> ParseGpuOptions(const std::map<std::string, std::string>& flags);

}  // namespace assay::gpu
