// A backend that evaluates on the oracle what a test has made of the program: right where the test
// changes nothing, wrong in a known place where it does.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "spec/backend/fake_backend.h"
#include "spec/backend/oracle.h"
#include "spec/base/status_macros.h"

namespace assay {

// `bend` changes a copy of the program before every run. The oracle outlives the backend.
inline std::unique_ptr<Backend> BentOracle(
    Oracle& oracle, std::function<void(Module&, const CompileOptions&)> bend) {
  FakeBackend::Script script;
  script.description.name = "bent";
  script.run =
      [&oracle, bend = std::move(bend)](
          const Module& module, const CompileOptions& options,
          const std::vector<std::vector<const Literal*>>& arguments) -> absl::StatusOr<RunResult> {
    const std::unique_ptr<Module> copy = module.Clone("");
    bend(*copy, options);
    RunResult result;
    if (arguments.size() > 1) {
      std::vector<DeviceInputs> inputs;
      for (const auto& device : arguments) inputs.push_back({device, {}});
      ASSAY_ASSIGN_OR_RETURN(std::vector<DeviceOutputs> outputs,
                             oracle.EvaluateDevices(*copy, options.devices, inputs, Limits{}));
      for (DeviceOutputs& device : outputs) result.outputs.push_back(std::move(device.result));
      return result;
    }
    ASSAY_ASSIGN_OR_RETURN(result.outputs.emplace_back(),
                           oracle.Evaluate(*copy, arguments[0], Limits{}));
    return result;
  };
  return std::make_unique<FakeBackend>(std::move(script));
}

}  // namespace assay
