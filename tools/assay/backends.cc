// The families of backends that this program has. A new one is one line here.
#include "tools/assay/environment.h"

#include "fuzz/backends/pjrt/pjrt_backend.h"
#include "fuzz/backends/process_backend.h"
#include "fuzz/backends/translated_backend.h"
#include "fuzz/peers/probe.h"
#include "optimized/cpu/cpu_backend.h"
#include "optimized/gpu/gpu_sim_backend.h"
#include "optimized/pipeline/pipeline.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

// Backends that run on the oracle live as long as they like.
Oracle& SharedOracle() {
  static Oracle& oracle = *MakeOracle().release();
  return oracle;
}

}  // namespace

std::string WhoIs(const BackendDescription& description) {
  const std::string& version = description.version;
  return version.empty() ? description.name : StrCat(description.name, ": ", version);
}

void AddBackendOption(OptionList& line, std::string& backend, std::string& python,
                      const std::string& text, const std::string& name) {
  const DeclaredOption option = line.Add(name, backend, text);
  if (!backend.empty()) option.ShowDefault();
  line.Add("--python", python,
           "Interpreter with jaxlib, for the backend xla (default: $ASSAY_XLA_PYTHON)");
}

std::string PythonArgument(const std::string& python) {
  return python.empty() ? "" : StrCat(" --python ", python);
}

std::unique_ptr<const BackendRegistry> MakeBackends(const std::string& python,
                                                    double start_seconds) {
  auto all = std::make_unique<BackendRegistry>();
  RegisterReference(*all);
  RegisterCpu(*all);
  RegisterGpuSim(*all);
  RegisterGpu(*all);
  RegisterPasses(*all);
  RegisterXla(*all, python);
  RegisterPjrt(*all);
  RegisterProcess(*all, start_seconds > 0 ? start_seconds : ProcessBackendOptions().start_seconds);
  RegisterTranslated(*all, SharedOracle(), python);
  return all;
}

absl::StatusOr<std::unique_ptr<Backend>> OpenBackend(const std::string& name,
                                                     const std::string& python,
                                                     double start_seconds) {
  return MakeBackends(python, start_seconds)->Create(name);
}

absl::StatusOr<GeneratorOptions> GeneratorFor(const std::string& backend, const std::string& python,
                                              bool portable) {
  GeneratorOptions options;
  options.portable = portable;
  if (backend.empty()) return options;
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Backend> opened, OpenBackend(backend, python));
  const BackendDescription& description = opened->Describe();
  if (!description.in_process) {
    options.portable = true;
    ASSAY_RETURN_IF_ERROR(ProbePeer(*opened, options).status());
  } else if (description.capability) {
    ExcludeUnsupported(description.capability, options);
  }
  return options;
}

}  // namespace assay
