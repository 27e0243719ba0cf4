// The families of backends that this program has. A new one is one line here.
#include "tools/assay/environment.h"

#include "fuzz/backends/process_backend.h"
#include "fuzz/backends/translated_backend.h"
#include "optimized/cpu/cpu_backend.h"
#include "optimized/pipeline/pipeline.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

std::string& PythonPath() {
  static auto* path = new std::string();
  return *path;
}

}  // namespace

void AddBackendOption(OptionList& line, std::string& backend, const std::string& text,
                      const std::string& name) {
  const DeclaredOption option = line.Add(name, backend, text);
  if (!backend.empty()) option.ShowDefault();
  line.Add("--python", PythonPath(),
           "Interpreter with jaxlib, for the backend xla (default: $ASSAY_XLA_PYTHON)");
}

std::string PythonArgument() {
  return PythonPath().empty() ? "" : StrCat(" --python ", PythonPath());
}

const BackendRegistry& Backends() {
  static const BackendRegistry* registry = [] {
    auto* all = new BackendRegistry();
    RegisterReference(*all);
    RegisterCpu(*all);
    RegisterPasses(*all);
    RegisterXla(*all, PythonPath());
    RegisterProcess(*all);
    static Oracle& oracle = *MakeOracle().release();  // as long-lived as the registry
    RegisterTranslated(*all, oracle, PythonPath());
    return all;
  }();
  return *registry;
}

absl::StatusOr<std::unique_ptr<Backend>> OpenBackend(const std::string& name) {
  return Backends().Create(name);
}

absl::StatusOr<GeneratorOptions> GeneratorFor(const std::string& backend, bool foreign) {
  GeneratorOptions options;
  options.foreign = foreign;
  if (backend.empty()) return options;
  absl::StatusOr<std::unique_ptr<Backend>> opened = OpenBackend(backend);
  if (!opened.ok()) return opened.status();
  const BackendDescription& description = (*opened)->Describe();
  if (!description.in_process) {
    options.foreign = true;
  } else if (description.capability) {
    ExcludeUnsupported(description.capability, options);
  }
  return options;
}

}  // namespace assay
