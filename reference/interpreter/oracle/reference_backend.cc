// The oracle as one more backend.
#include <chrono>

#include "reference/interpreter/interpreter.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

class ReferenceExecutable : public Executable {
 public:
  ReferenceExecutable(std::unique_ptr<Module> module, DeviceAssignment devices, Limits limits)
      : module_(std::move(module)),
        devices_(std::move(devices)),
        limits_(limits),
        oracle_(MakeOracle()) {}

  absl::StatusOr<RunResult> Run(
      const std::vector<std::vector<const Literal*>>& arguments) override {
    std::vector<DeviceInputs> inputs;
    for (const std::vector<const Literal*>& of_device : arguments) {
      DeviceInputs& input = inputs.emplace_back();
      input.arguments = of_device;
      if (inputs.size() <= infeed_.size()) input.infeed = infeed_[inputs.size() - 1];
    }
    const auto start = std::chrono::steady_clock::now();
    ASSAY_ASSIGN_OR_RETURN(std::vector<DeviceOutputs> outputs,
                           oracle_->EvaluateDevices(*module_, devices_, inputs, limits_));
    RunResult result;
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (DeviceOutputs& output : outputs) {
      result.outputs.push_back(std::move(output.result));
      result.outfeeds.push_back(std::move(output.outfeed));
    }
    return result;
  }

  absl::Status SetInfeed(std::vector<std::vector<Literal>> items) override {
    infeed_ = std::move(items);
    return absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<Module>> OptimizedModule() const override {
    return module_->Clone("");
  }

 private:
  std::unique_ptr<Module> module_;
  DeviceAssignment devices_;
  Limits limits_;
  std::unique_ptr<Oracle> oracle_;
  std::vector<std::vector<Literal>> infeed_;
};

class ReferenceBackend : public Backend {
 public:
  ReferenceBackend() {
    description_.name = "reference";
    description_.version = "Assay's oracle";
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
    return std::unique_ptr<Executable>(
        std::make_unique<ReferenceExecutable>(module.Clone(""), options.devices, options.limits));
  }

 private:
  BackendDescription description_;
};

}  // namespace

void RegisterReference(BackendRegistry& registry) {
  registry.Register("reference", "the oracle: a naive interpreter",
                    [](const std::string& options) -> absl::StatusOr<std::unique_ptr<Backend>> {
                      ASSAY_RETURN_IF_ERROR(ParseBackendOptions(options, {}).status());
                      return std::unique_ptr<Backend>(std::make_unique<ReferenceBackend>());
                    });
}

}  // namespace assay
