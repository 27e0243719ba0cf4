// XLA, and whatever else JAX of a Python runs, as process backends: their worker, options,
// families.
#include <cstdlib>
#include <utility>

#include "absl/strings/numbers.h"
#include "fuzz/backends/flag_options.h"
#include "fuzz/backends/process_backend.h"
#include "fuzz/embedded.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr int64_t kMostDevices = 1024;

absl::StatusOr<ProcessBackendOptions> OptionsOfJax(const std::string& family, bool has_devices,
                                                   const std::string& options,
                                                   const std::string& python) {
  ProcessBackendOptions result;
  result.name = options.empty() ? family : StrCat(family, ":", options);
  result.profile = &Profile::Xla();
  result.decimal_negative_zero = true;
  result.dumps_passes = true;
  result.is_jax = true;
  result.forks = true;
  std::string interpreter = python, platform = "cpu", devices = "1";
  bool reuse_pages = false;
  for (const auto& [name, value] : SplitFlagOptions(options)) {
    int64_t count = 0;
    if (name == "python") {
      interpreter = value;
    } else if (name == "pages" && value == "reused") {
      reuse_pages = true;
    } else if (has_devices && name == "platform") {
      platform = value;
    } else if (has_devices && name == "devices") {
      if (!absl::SimpleAtoi(value, &count) || count < 1 || count > kMostDevices) {
        return absl::InvalidArgumentError(
            StrCat("devices=", value, ": not a number from 1 to ", kMostDevices));
      }
      devices = value;
    } else if (IsXlaFlag(name)) {
      result.flags[name] = value;
    } else {
      return absl::InvalidArgumentError(
          StrCat("unknown option '", name, "' of ", family,
                 "; known: ", has_devices ? "platform=cpu|cuda|tpu|PLUGIN.so, devices=N, " : "",
                 "python=PATH, pages=reused and XLA's own, xla_..."));
    }
  }
  for (const char* gpus : {"cuda", "gpu", "rocm"}) {
    if (platform == gpus) result.profile = &Profile::XlaGpu();
  }
  // A plug-in is known by its path; the platforms of JAX are plain words.
  if (platform.find(".so") != std::string::npos && platform.find('/') == std::string::npos) {
    platform = StrCat("./", platform);
  }
  // One program of two files: no path has to be found at run time.
  result.argv = {ChoosePython(interpreter), "-c",
                 StrCat(EmbeddedFile("worker_protocol.py"), EmbeddedFile("jax_worker.py")),
                 platform, devices};
  if (reuse_pages) {
    // glibc's allocator then keeps what was freed instead of returning it to the kernel.
    result.argv.insert(result.argv.begin(),
                       {"/usr/bin/env", "MALLOC_MMAP_MAX_=0", "MALLOC_TRIM_THRESHOLD_=17179869184",
                        "MALLOC_ARENA_MAX=1"});
  }
  return result;
}

}  // namespace

std::string ChoosePython(const std::string& asked) {
  if (!asked.empty()) return asked;
  const char* variable = std::getenv("ASSAY_XLA_PYTHON");
  return variable != nullptr && *variable != '\0' ? variable : "python3";
}

std::string PythonOf(const std::string& backend, const std::string& asked) {
  const size_t colon = backend.find(':');
  if (colon == backend.npos) return ChoosePython(asked);
  for (const auto& [name, value] : SplitFlagOptions(backend.substr(colon + 1)))
    if (name == "python") return value;
  return ChoosePython(asked);
}

absl::StatusOr<ProcessBackendOptions> XlaOptions(const std::string& options,
                                                 const std::string& python) {
  return OptionsOfJax("xla", /*has_devices=*/false, options, python);
}

absl::StatusOr<ProcessBackendOptions> JaxOptions(const std::string& options,
                                                 const std::string& python) {
  return OptionsOfJax("jax", /*has_devices=*/true, options, python);
}

Release ReleaseOfXla(const std::string& version, const std::string& python) {
  absl::StatusOr<ProcessBackendOptions> options = XlaOptions(StrCat("python=", python), "");
  if (!options.ok()) {
    return {version, [status = options.status()] { return status; }};
  }
  options->nursery = std::make_shared<WorkerNursery>(options->argv);
  return {version, [options = *options] { return MakeProcessBackend(options); },
          [nursery = options->nursery] { nursery->Launch(); }};
}

void RegisterXla(BackendRegistry& registry, std::string python) {
  struct Family {
    const char* name;
    const char* summary;
    bool has_devices;
  };
  constexpr Family kFamilies[] = {
      {"xla", "XLA:CPU of a jaxlib, in a worker: xla:python=PATH,pages=reused,xla_...=...", false},
      {"jax",
       "what JAX of a Python runs on: "
       "jax:platform=cpu|cuda|tpu|PLUGIN.so,devices=N,python=PATH,pages=reused,xla_...=...",
       true}};
  for (const Family& family : kFamilies) {
    registry.Register(
        family.name, family.summary,
        [python, family](const std::string& options) -> absl::StatusOr<std::unique_ptr<Backend>> {
          ASSAY_ASSIGN_OR_RETURN(ProcessBackendOptions parsed,
                                 OptionsOfJax(family.name, family.has_devices, options, python));
          return MakeProcessBackend(std::move(parsed));
        });
  }
}

}  // namespace assay
