// Interleaved measurement: what is compared takes turns, so that what the machine does meanwhile
// hits all alike, and ratios are made of neighbours.
#pragma once

#include <map>
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
  // Sampling goes on until the interval of the ratio of the first two is within this part of its
  // median, or the time is up; 0: it stops at min_seconds.
  double precision = 0;
  CompileOptions compile;
};

struct Timings {
  // From a parsed module to code that can run: the worker's own clock where the backend is another
  // process (text and pipe are not counted), else the wall time of Backend::Compile.
  std::vector<double> compile_seconds;
  // The executables report these times; they hold the allocation of the outputs, and no warm-up.
  std::vector<double> run_seconds;
  Literal output;                            // of the last run
  int64_t peak_bytes = 0;                    // of the last run; 0: not known
  std::map<std::string, double> statistics;  // of the executable
};

// Timings of each backend on the module, in the order given; their samples with the same number
// were taken in the same round. A backend may be given twice: the same program beside itself says
// what the measurement is worth. An error names the backend.
absl::StatusOr<std::vector<Timings>> MeasureInterleaved(const std::vector<Backend*>& backends,
                                                        const Module& module,
                                                        const std::vector<const Literal*>& inputs,
                                                        const MeasureOptions& options);

}  // namespace assay
