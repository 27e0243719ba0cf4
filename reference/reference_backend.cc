// The oracle as one more backend.
#include <chrono>

#include "reference/interpreter.h"
#include "spec/backend/error.h"
#include "spec/base/strings.h"
#include "spec/types/native.h"

namespace assay {
namespace {

class ReferenceExecutable : public Executable {
 public:
  ReferenceExecutable(std::unique_ptr<Module> module, Limits limits)
      : module_(std::move(module)), limits_(limits), oracle_(MakeOracle()) {}

  absl::StatusOr<RunResult> Run(
      const std::vector<std::vector<const Literal*>>& arguments) override {
    if (arguments.size() != 1) {
      return MakeError(
          ErrorClass::kUnsupported,
          StrCat("the reference runs one device, arguments for ", arguments.size(), " were given"));
    }
    const auto start = std::chrono::steady_clock::now();
    absl::StatusOr<Literal> output = oracle_->Evaluate(*module_, arguments[0], limits_);
    if (!output.ok()) return output.status();
    RunResult result;
    result.outputs.push_back(*std::move(output));
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
  }

  absl::StatusOr<std::unique_ptr<Module>> OptimizedModule() const override {
    return module_->Clone("");
  }

 private:
  std::unique_ptr<Module> module_;
  Limits limits_;
  std::unique_ptr<Oracle> oracle_;
};

class ReferenceBackend : public Backend {
 public:
  ReferenceBackend() {
    description_.name = "reference";
    description_.version = "1";
    description_.devices = {"interpreter:0"};
    description_.profile = &Profile::Strict();
    description_.capability = [](Opcode opcode, ElementType) {
      const bool known = reference::FindEvaluation(opcode) != nullptr;
      return known ? Capability::kSupported : Capability::kUnsupported;
    };
  }

  const BackendDescription& Describe() const override { return description_; }

  absl::StatusOr<std::unique_ptr<Executable>> Compile(const Module& module,
                                                      const CompileOptions& options) override {
    if (!options.flags.empty()) {
      return MakeError(ErrorClass::kRejected,
                       StrCat("the reference has no flag \"", options.flags.begin()->first, "\""));
    }
    if (!options.defect.empty())
      return MakeError(ErrorClass::kRejected, "the reference has no gates to plant a defect in");
    if (options.devices.replicas * options.devices.partitions != 1)
      return MakeError(ErrorClass::kUnsupported, "the reference runs one device");
    return std::unique_ptr<Executable>(
        std::make_unique<ReferenceExecutable>(module.Clone(""), options.limits));
  }

 private:
  BackendDescription description_;
};

}  // namespace

void RegisterReference(BackendRegistry& registry) {
  registry.Register("reference", "the oracle: a naive interpreter",
                    [](const std::string& options) -> absl::StatusOr<std::unique_ptr<Backend>> {
                      absl::StatusOr<std::map<std::string, std::string>> parsed =
                          ParseBackendOptions(options, {});
                      if (!parsed.ok()) return parsed.status();
                      return std::unique_ptr<Backend>(std::make_unique<ReferenceBackend>());
                    });
}

}  // namespace assay
