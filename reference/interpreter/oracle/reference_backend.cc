// The oracle as one more backend, and with it an implementation that makes use of what the profile
// xla leaves open: who campaigns on it looks for false alarms.
#include <algorithm>
#include <chrono>
#include <optional>

#include "absl/strings/numbers.h"

#include "reference/bounds/choices/wider_module.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

class ReferenceExecutable : public Executable {
 public:
  ReferenceExecutable(std::unique_ptr<Module> module, DeviceAssignment devices, Limits limits,
                      std::optional<uint64_t> choices)
      : module_(std::move(module)),
        devices_(std::move(devices)),
        limits_(limits),
        choices_(choices),
        oracle_(MakeOracle()) {
    for (const Computation* computation : module_->computations()) {
      for (const Instruction* instruction : *computation) {
        ++instructions_;
        has_feeds_ = has_feeds_ || instruction->opcode() == Opcode::kInfeed ||
                     instruction->opcode() == Opcode::kOutfeed;
      }
    }
  }

  absl::StatusOr<RunResult> Run(
      const std::vector<std::vector<const Literal*>>& arguments) override {
    std::vector<DeviceInputs> inputs;
    for (const std::vector<const Literal*>& of_device : arguments) {
      DeviceInputs& input = inputs.emplace_back();
      input.arguments = of_device;
      if (inputs.size() <= infeed_.size()) input.infeed = infeed_[inputs.size() - 1];
    }
    const auto start = std::chrono::steady_clock::now();
    // Several devices, and those with feeds, make no choices.
    if (choices_.has_value() && arguments.size() == 1 && !has_feeds_) {
      RunResult result;
      const uint64_t seed = SeedOf(arguments[0]);
      const Module& module = ModuleOf(seed / 7 % 3);
      // Conversions to the wider type flush nothing.
      const DrawOptions options{.seed = seed, .flushes = &module == module_.get() && seed % 7 < 3};
      ASSAY_ASSIGN_OR_RETURN(Literal drawn,
                             oracle_->DrawFrom(module, arguments[0], {}, options, limits_));
      result.seconds = SecondsSince(start);
      result.outputs.push_back(std::move(drawn));
      result.outfeeds.emplace_back();
      return result;
    }
    ASSAY_ASSIGN_OR_RETURN(std::vector<DeviceOutputs> outputs,
                           oracle_->EvaluateDevices(*module_, devices_, inputs, limits_));
    RunResult result;
    result.seconds = SecondsSince(start);
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
  static double SecondsSince(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  // Equal for the same program on the same numbers, so that a run gives what the last one gave.
  uint64_t SeedOf(const std::vector<const Literal*>& arguments) const {
    uint64_t seed = *choices_ * 0x9E3779B97F4A7C15u + instructions_;
    for (const Literal* argument : arguments)
      for (const Literal* leaf : Leaves(*argument))
        for (int64_t i = 0; i < std::min<int64_t>(leaf->element_count(), 8); ++i)
          seed = (seed ^ (seed >> 29)) * 0xBF58476D1CE4E5B9u + leaf->GetBits(i);
    return seed >> 8;
  }

  // The program as it is (0), or with its intermediate values in a wider type, if it can be so.
  const Module& ModuleOf(uint64_t kind) {
    if (kind == 0) return *module_;
    std::optional<std::unique_ptr<Module>>& wider = wider_[kind - 1];
    if (!wider.has_value())
      wider = reference::KeepWider(
          *module_, kind == 1 ? reference::ExcessType::kSingle : reference::ExcessType::kHalf);
    return *wider != nullptr ? **wider : *module_;
  }

  std::unique_ptr<Module> module_;
  std::optional<std::unique_ptr<Module>> wider_[2];  // made where they are asked for
  DeviceAssignment devices_;
  Limits limits_;
  std::optional<uint64_t> choices_;  // the seed of all runs
  uint64_t instructions_ = 0;
  bool has_feeds_ = false;
  std::unique_ptr<Oracle> oracle_;
  std::vector<std::vector<Literal>> infeed_;
};

class ReferenceBackend : public Backend {
 public:
  explicit ReferenceBackend(std::optional<uint64_t> choices) : choices_(choices) {
    description_.name = "reference";
    description_.version = choices ? "Assay's oracle, drawing legal choices" : "Assay's oracle";
    description_.devices = {"interpreter:0"};
    description_.profile = choices ? &Profile::Xla() : &Profile::Strict();
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
    return std::unique_ptr<Executable>(std::make_unique<ReferenceExecutable>(
        module.Clone(""), options.devices, options.limits, choices_));
  }

 private:
  std::optional<uint64_t> choices_;
  BackendDescription description_;
};

}  // namespace

void RegisterReference(BackendRegistry& registry) {
  registry.Register(
      "reference",
      "the oracle: a naive interpreter; choices=SEED draws what the profile xla leaves open",
      [](const std::string& options) -> absl::StatusOr<std::unique_ptr<Backend>> {
        ASSAY_ASSIGN_OR_RETURN(const auto given, ParseBackendOptions(options, {"choices"}));
        std::optional<uint64_t> choices;
        if (const auto seed = given.find("choices"); seed != given.end()) {
          choices.emplace();
          if (!absl::SimpleAtoi(seed->second, &*choices))
            return MakeError(ErrorClass::kRejected,
                             StrCat("choices takes a seed, not \"", seed->second, "\""));
        }
        return std::unique_ptr<Backend>(std::make_unique<ReferenceBackend>(choices));
      });
}

}  // namespace assay
