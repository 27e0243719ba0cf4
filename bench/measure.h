// Interleaved measurement: what is compared takes turns, so that what the machine does meanwhile
// hits all alike, and ratios are made of neighbours.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/backend/backend.h"

namespace assay {

struct MeasureOptions {
  int compiles = 6;          // per backend, at least one
  double min_seconds = 0.5;  // of timed runs per backend
  int min_runs = 12;
  int max_runs = 2000;
  double max_seconds = 30;  // for all runs of a workload, warm-up included
  CompileOptions compile;
};

struct Timings {
  std::vector<double> compile_seconds;  // wall time of Backend::Compile
  std::vector<double> run_seconds;      // as the executable reports them; warm-up left out
  Literal output;                       // of the last run
};

// Timings of each backend on the module, in the order given; their samples with the same number
// were taken in the same round. An error names the backend.
absl::StatusOr<std::vector<Timings>> MeasureInterleaved(const std::vector<Backend*>& backends,
                                                        const Module& module,
                                                        const std::vector<const Literal*>& inputs,
                                                        const MeasureOptions& options);

}  // namespace assay
