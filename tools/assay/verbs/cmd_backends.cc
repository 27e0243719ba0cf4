// assay backends: who can be judged, and with which options.
#include <memory>
#include <string_view>

#include "fuzz/backends/pjrt/pjrt_backend.h"
#include "nlohmann/json.hpp"
#include "optimized/gpu/gpu_sim_backend.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "tools/assay/environment.h"
#include "tools/assay/json_line.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

struct Options {
  std::string name;
  std::string python;
  bool json = false, probe = false;
};

// Everything that a plug-in tells of itself, a line each.
absl::StatusOr<int> PrintProbe(const Options& options) {
  constexpr std::string_view kFamily = "pjrt:";
  if (options.name.rfind(kFamily, 0) != 0)
    return absl::InvalidArgumentError("--probe asks a PJRT plug-in: assay backends --probe pjrt:F");
  ASSAY_ASSIGN_OR_RETURN(const nlohmann::json facts,
                         ProbePjrt(options.name.substr(kFamily.size())));
  if (options.json) {
    PrintJson(facts);
    return kExitOk;
  }
  for (const auto& [name, value] : facts.items()) {
    if (!value.is_structured()) {
      Print(StrCat(name, ": ", value.is_string() ? value.get<std::string>() : value.dump()));
      continue;
    }
    Print(StrCat(name, ":"));
    for (const auto& [key, one] : value.items()) {
      const std::string text = one.is_string() ? one.get<std::string>() : one.dump();
      Print(value.is_object() ? StrCat("  ", key, " = ", text) : StrCat("  ", text));
    }
  }
  return kExitOk;
}

bool IsOnGpu(std::string_view name) { return name == "gpu" || name.starts_with("gpu:"); }

// Opens the one backend that was named and says who it is.
absl::StatusOr<int> PrintOne(const Options& options) {
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Backend> backend,
                         OpenBackend(options.name, options.python));
  const BackendDescription& description = backend->Describe();
  if (options.json) {
    PrintJson({{"backend", description.name},
               {"version", description.version},
               {"devices", description.devices},
               {"can_run", description.can_run},
               {"in_process", description.in_process}});
    return kExitOk;
  }
  Print(WhoIs(description));
  std::string devices;
  for (const std::string& device : description.devices) {
    devices += (devices.empty() ? "" : ", ") + device;
  }
  Print("  devices     " + devices);
  if (IsOnGpu(description.name))
    for (const std::string& library : LibrariesOfGpu()) Print("  library     " + library);
  Print(std::string("  runs        ") + (description.can_run ? "yes" : "no, it only compiles"));
  Print(std::string("  process     ") + (description.in_process ? "this one" : "its own"));
  return kExitOk;
}

absl::StatusOr<int> Run(const Options& options) {
  if (options.probe) return PrintProbe(options);
  if (!options.name.empty()) return PrintOne(options);
  Table table({{"backend"}, {"what it is, and its options"}});
  const std::unique_ptr<const BackendRegistry> all = MakeBackends(options.python);
  for (const auto& [name, summary] : all->Families()) {
    if (options.json) {
      PrintJson({{"backend", name}, {"summary", summary}});
    } else {
      table.Add({name, summary});
    }
  }
  if (options.json) return kExitOk;
  Print(table.ToString());
  Print("assay backends NAME opens one and says which version it is.");
  return kExitOk;
}

}  // namespace

void DeclareBackends(OptionList& line, VerbAction& action) {
  auto options = std::make_shared<Options>();
  line.Add("NAME", options->name, "Open this one (cpu:isa=avx2, jax:devices=4) and say who it is");
  line.Add("--python", options->python,
           "Interpreter with jaxlib, for xla and jax (default: $ASSAY_XLA_PYTHON)");
  line.AddFlag("--probe", options->probe,
               "Ask a PJRT plug-in for its version, extensions, devices and memories");
  line.AddFlag("--json", options->json, "One JSON object per backend");
  action = [options] { return Run(*options); };
}

}  // namespace assay
