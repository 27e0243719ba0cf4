// Options of the backend, and its worker.
#include "fuzz/backends/pjrt/pjrt_backend.h"

#include <unistd.h>

#include <filesystem>
#include <utility>

#include "absl/strings/numbers.h"
#include "fuzz/backends/flag_options.h"
#include "fuzz/backends/pjrt/worker.h"
#include "nlohmann/json.hpp"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/numerics/profile.h"
#include "spec/process/worker_process.h"

namespace assay {
namespace {

constexpr int kMostDevices = 1024;

// The program that runs, from wherever it was started.
std::string ThisProgram() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "assay" : path.string();
}

}  // namespace

absl::StatusOr<ProcessBackendOptions> PjrtOptions(const std::string& options,
                                                  const std::string& program) {
  ProcessBackendOptions result;
  std::string file;
  int devices = 1;
  for (const auto& [name, value] : SplitFlagOptions(options)) {
    if (IsXlaFlag(name)) {
      result.flags[name] = value;
    } else if (name == "devices") {
      if (!absl::SimpleAtoi(value, &devices) || devices < 1 || devices > kMostDevices) {
        return absl::InvalidArgumentError(
            StrCat("devices=", value, ": not a number from 1 to ", kMostDevices));
      }
    } else if (name == "format") {
      if (value != "hlo" && value != "mlir") {
        return absl::InvalidArgumentError(
            StrCat("format=", value, ": hlo, or mlir, which is StableHLO"));
      }
      result.flags[name] = value;
    } else if (file.empty() && value == "true") {
      file = name;
    } else {
      return absl::InvalidArgumentError(
          StrCat("unknown option '", name,
                 "' of pjrt; known: devices=N, format=hlo|mlir and XLA's own, xla_..."));
    }
  }
  if (file.empty())
    return absl::InvalidArgumentError("pjrt: names no plug-in, as in pjrt:./xla_cpu_pjrt.so");
  result.name = StrCat("pjrt:", options);
  result.profile = &Profile::Xla();
  // The loader looks for a plain word in its own folders.
  if (file.find('/') == file.npos) file = StrCat("./", file);
  result.argv = {program.empty() ? ThisProgram() : program, pjrt::kWorkerWord, file,
                 StrCat(devices)};
  return result;
}

void RegisterPjrt(BackendRegistry& registry, std::string program) {
  registry.Register("pjrt",
                    "any PJRT plug-in, without Python, in a worker: "
                    "pjrt:FILE.so,devices=N,format=hlo|mlir,xla_...=...",
                    [program = std::move(program)](
                        const std::string& options) -> absl::StatusOr<std::unique_ptr<Backend>> {
                      ASSAY_ASSIGN_OR_RETURN(ProcessBackendOptions parsed,
                                             PjrtOptions(options, program));
                      return MakeProcessBackend(std::move(parsed));
                    });
}

absl::StatusOr<nlohmann::json> ProbePjrt(const std::string& options, const std::string& program) {
  ASSAY_ASSIGN_OR_RETURN(const ProcessBackendOptions parsed, PjrtOptions(options, program));
  WorkerProcess worker(parsed.argv);
  ASSAY_RETURN_IF_ERROR(worker.Start(parsed.start_seconds));
  const auto at = worker.greeting().find("plugin");
  nlohmann::json facts = at != worker.greeting().end() ? *at : nlohmann::json::object();
  facts["version"] = worker.greeting().value("version", "");
  return facts;
}

}  // namespace assay
