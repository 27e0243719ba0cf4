// One side of a comparison: a program of Assay, of whatever age, with a backend. Everything is
// asked through its command line, so that programs of other commits can be measured beside this
// one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/tracking/commits.h"
#include "bench/tracking/why.h"

namespace assay {

struct Side {
  std::string label;    // as the user named it
  std::string program;  // path of an executable
  std::string backend = "cpu";
  std::string python;  // of backends that need one
};

struct Ran {
  std::string out, err;  // all of standard output; the last 4 KiB of standard error
  int status = 0;        // exit status; 128 + signal
};
// Runs a program and waits. DeadlineExceeded after `seconds`; the program is killed then.
// `fixed_places`: it is loaded at the same addresses each time.
absl::StatusOr<Ran> RunCommand(const std::vector<std::string>& arguments, double seconds,
                               bool fixed_places = false);

struct SampleOptions {
  double min_seconds = 0.05, max_seconds = 0.5;  // of runs per sample
  uint64_t seed = 1;
  double timeout = 300;
};

struct SideSample {
  double run_seconds = 0;                  // median of the runs of one process
  double calm_seconds = 0;                 // a tenth took less; 0: older programs do not tell
  std::map<std::string, double> measures;  // deterministic ones, and compile times by stage
};
// A process of its own that compiles and runs the workload. Errors say what it said.
absl::StatusOr<SideSample> TakeSample(const Side& side, const std::string& path,
                                      const SampleOptions& options);
// The hash of the machine code that its compiler makes; "" where it cannot tell.
std::string CodeOf(const Side& side, const std::string& path, double timeout);
// Asks what its compiler makes of the workload, the code included; kinds that it cannot tell are
// left out.
Made MadeBy(const Side& side, const std::string& path, double timeout);

struct Instructions {
  double per_run = 0;
  std::string how;  // "perf events", "valgrind"
};
// Instructions of one run on one thread, as the difference of programs that make different numbers
// of runs. Unavailable: the kernel allows no perf events and there is no valgrind.
absl::StatusOr<Instructions> CountInstructions(const Side& side, const std::string& path,
                                               const SampleOptions& options);

// Turns an argument into a side: an executable file; a
// backend such as "cpu:without=loop-fusion" of this program; else a commit of the repository in the
// current folder, which is built unless it was before.
absl::StatusOr<Side> SideNamed(const std::string& name, const Side& usual,
                               const CommitBuilds& builds);

// The path of this program, and the copy of an executable in `cache` under its hash. Errors:
// the file cannot be read, or what lies under the hash is another one.
std::string ThisProgram();
absl::StatusOr<std::string> Freeze(const std::string& program, const std::string& cache);
absl::StatusOr<std::string> FrozenProgram(const std::string& hash, const std::string& cache);

}  // namespace assay
