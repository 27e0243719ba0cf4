// XLA:CPU as a process backend: its worker, its options, its family.
#include <cstdlib>

#include "fuzz/backends/process_backend.h"
#include "fuzz/embedded.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

std::string ChoosePython(const std::string& asked) {
  if (!asked.empty()) return asked;
  const char* variable = std::getenv("ASSAY_XLA_PYTHON");
  return variable != nullptr && *variable != '\0' ? variable : "python3";
}

}  // namespace

absl::StatusOr<ProcessBackendOptions> XlaOptions(const std::string& options,
                                                 const std::string& python) {
  ProcessBackendOptions result;
  result.name = options.empty() ? "xla" : StrCat("xla:", options);
  result.profile = &Profile::Xla();
  result.decimal_negative_zero = true;
  result.dumps_passes = true;
  result.is_jax = true;
  result.forks = true;
  std::string interpreter = python;
  bool reuse_pages = false;
  std::vector<std::string> parts;
  for (size_t at = 0; at < options.size();) {
    size_t comma = options.find(',', at);
    parts.push_back(options.substr(at, comma - at));
    at = comma == std::string::npos ? options.size() : comma + 1;
  }
  for (const std::string& part : parts) {
    size_t equals = part.find('=');
    std::string name = part.substr(0, equals);
    std::string value = equals == std::string::npos ? "true" : part.substr(equals + 1);
    if (name == "python") {
      interpreter = value;
    } else if (part == "pages=reused") {
      reuse_pages = true;
    } else if (name.rfind("xla_", 0) == 0) {
      result.flags[name] = value;
    } else {
      return absl::InvalidArgumentError(StrCat("unknown option '", name,
                                               "' of xla; known: python=PATH, pages=reused and "
                                               "XLA's own, xla_..."));
    }
  }
  // One program of two files: no path has to be found at run time.
  result.argv = {ChoosePython(interpreter), "-c",
                 StrCat(EmbeddedFile("worker_protocol.py"), EmbeddedFile("jax_worker.py"))};
  if (reuse_pages) {
    // glibc's allocator then keeps what was freed instead of returning it to the kernel.
    result.argv.insert(result.argv.begin(),
                       {"/usr/bin/env", "MALLOC_MMAP_MAX_=0", "MALLOC_TRIM_THRESHOLD_=17179869184",
                        "MALLOC_ARENA_MAX=1"});
  }
  return result;
}

void RegisterXla(BackendRegistry& registry, std::string python) {
  registry.Register(
      "xla", "XLA:CPU of a jaxlib, in a worker: xla:python=PATH,pages=reused,xla_...=...",
      [python](const std::string& options) -> absl::StatusOr<std::unique_ptr<Backend>> {
        ASSAY_ASSIGN_OR_RETURN(ProcessBackendOptions parsed, XlaOptions(options, python));
        return MakeProcessBackend(std::move(parsed));
      });
}

}  // namespace assay
