// Any compiler behind a pipe. The protocol is described, and implemented from the worker's side, in
// worker_protocol.py; a new compiler is put under test by writing the other half of that file
// (jax_worker.py is one).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "fuzz/backends/releases.h"
#include "spec/backend/backend.h"
#include "spec/process/worker_nursery.h"

namespace assay {

struct ProcessBackendOptions {
  std::string name;               // as on the command line
  std::vector<std::string> argv;  // the worker
  const Profile* profile = nullptr;
  // Sent with every compilation, below the flags of CompileOptions.
  std::map<std::string, std::string> flags;
  bool compile_only = false;  // never ask it to run: OptimizedModule is what is wanted
  double start_seconds = 60;
  // The worker knows "--fork-server" (spec/process/worker_nursery.h): it is loaded once, and every
  // worker of this backend and of its forked copies is forked from there.
  bool forks = false;
  // The process that it is forked from, if others shall share it; else it gets one of its own.
  std::shared_ptr<WorkerNursery> nursery = nullptr;
  bool dumps_passes = false, is_jax = false;  // as BackendDescription has them
  // XLA reads -0 as an integer and loses the sign: spell it -0.0.
  bool decimal_negative_zero = false;
  // Tells of a module that the worker cannot be asked about, "" if it can.
  std::function<std::string(const Module&)> unsupported;
};

// HLO text in which the float -0 is spelled -0.0.
std::string SpellNegativeZeros(const std::string& text);

// Starts the worker, so that a missing interpreter or package is an error here (sick machine) and
// not of the first case. The backend keeps one worker, serves one caller at a time and starts it
// again after a death. Executables of a dead worker compile again when they are run.
absl::StatusOr<std::unique_ptr<Backend>> MakeProcessBackend(ProcessBackendOptions options);

// "process:COMMAND": the command is split at blanks; no quoting. A worker that has not greeted
// after `start_seconds` is given up. A last word "--fork-server" says that the worker knows it: it
// is loaded once for all checks of a campaign.
void RegisterProcess(BackendRegistry& registry,
                     double start_seconds = ProcessBackendOptions().start_seconds);

// Registers the backends of the JAX of a Python interpreter: "xla" is XLA:CPU and one device, "jax"
// takes the options platform=cpu|cuda|tpu|PLUGIN.so (cpu) and devices=N (1) as well; "xla-opt"
// (through RegisterTranslated) only compiles. The interpreter is the option python=PATH, else
// `python` when not empty, else $ASSAY_XLA_PYTHON, else python3. With pages=reused the allocator of
// the worker keeps its pages from run to run. Further options that begin with xla_ are XLA's debug
// options, with or without the dashes that XLA itself writes before them; a debug option that XLA
// does not know is an error of making the backend.
void RegisterXla(BackendRegistry& registry, std::string python = "");
// The interpreter that is used when `asked` is empty, else that.
std::string ChoosePython(const std::string& asked);
// That of a backend by its whole name: the one in "xla:python=PATH", else as ChoosePython(asked).
// Second opinions on it run there, too.
std::string PythonOf(const std::string& backend, const std::string& asked);
absl::StatusOr<ProcessBackendOptions> XlaOptions(const std::string& options,
                                                 const std::string& python);
// Reads the options of "jax:OPTIONS". A platform of GPUs is judged by the profile xla-gpu.
absl::StatusOr<ProcessBackendOptions> JaxOptions(const std::string& options,
                                                 const std::string& python);
// XLA:CPU of the jaxlib that an interpreter has. What was prepared is shared by all that is opened
// afterwards, in this process and in those that are forked from it.
Release ReleaseOfXla(const std::string& version, const std::string& python);

}  // namespace assay
