// Options, modules, inputs and profiles as verbs are told of them.
#include "tools/assay/environment.h"

#include <optional>

#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

namespace assay {

void LimitOptions::Declare(OptionList& line) {
  line.AddDuration(
      "--timeout", timeout,
      "For each evaluation, compilation and run of a small program, of the time that it computes "
      "itself: 30s, 10m, 1h");
  line.AddByteCount("--max-memory", max_memory, "That one evaluation may hold: 512M, 8G");
  line.Add("--max-steps", max_steps, "Element evaluations of the oracle").Positive().ShowDefault();
}

Limits LimitOptions::Get() const {
  Limits limits;
  limits.seconds = timeout;
  limits.memory_bytes = max_memory;
  limits.steps = max_steps;
  return limits;
}

void InputOptions::Declare(OptionList& line) {
  const DeclaredOption file = line.Add("--inputs", inputs,
                                       "Arrays in0, in1, ... in an .npz file, or a recorded run in "
                                       "an HloSnapshot (default: NAME.npz "
                                       "or a recorded run beside the module)");
  line.AddCall<uint64_t>(
          "--random",
          [this](const uint64_t& seed) {
            random = seed;
            random_given = true;
          },
          "Draw the inputs from this seed")
      .Excludes(file);
  line.AddFlag("--draw-elided", draw_elided, kDrawElidedText);
}

void InputOptions::DeclareDevices(OptionList& line) {
  auto declare = [&](const char* name, int64_t* value, const char* text) {
    line.AddCall<int64_t>(
            name,
            [this, value](const int64_t& given) {
              *value = given;
              devices_given = true;
            },
            text)
        .Positive();
  };
  declare(
      "--replicas", &devices.replicas,
      "Run so many replicas in lockstep; default: as the arrays are numbered (in0_d1: device 1), "
      "or as the module's header says");
  declare("--partitions", &devices.partitions, "... of so many partitions each");
}

std::string InputOptions::DevicesArgument() const {
  if (!devices_given) return "";
  return StrCat(" --replicas ", devices.replicas, " --partitions ", devices.partitions);
}

std::string DrawnConstantsText(int64_t count) {
  return StrCat(count, count == 1 ? " constant was" : " constants were",
                " drawn where the file has {...}: this is not the program that was written");
}

absl::StatusOr<LoadedCase> LoadCase(const std::string& path, const InputOptions& inputs) {
  ASSAY_ASSIGN_OR_RETURN(std::vector<CaseFile> files, FindCases(path));
  CaseFile& file = files.front();
  if (files.back().module_path != file.module_path) {
    return absl::InvalidArgumentError(
        StrCat(path, " holds several modules; name one of them, as ", file.module_path));
  }
  const bool is_one_of_several = files.size() > 1 && inputs.inputs.empty() && !inputs.random_given;
  if (!inputs.inputs.empty()) file.arrays_path = inputs.inputs;
  LoadedCase result;
  const uint64_t seed = inputs.random_given ? inputs.random : 1;
  ASSAY_ASSIGN_OR_RETURN(
      DrawnModule module,
      LoadOrDrawCaseModule(file, inputs.draw_elided ? std::optional(seed) : std::nullopt));
  result.module = std::move(module.module);
  result.constants_drawn = module.drawn;
  if (inputs.random_given) file.arrays_path.clear();
  result.file = file;
  result.inputs = file.DescribeInputs(seed);
  if (is_one_of_several)
    StrAppend(&result.inputs, " (1 of ", files.size(), "; --inputs names another)");
  if (result.constants_drawn > 0)
    StrAppend(&result.inputs, "; ", DrawnConstantsText(result.constants_drawn));
  std::optional<DeviceAssignment> devices;
  if (inputs.devices_given) {
    if (inputs.devices.replicas > kMaxDevices || inputs.devices.partitions > kMaxDevices)
      return absl::InvalidArgumentError("more replicas or partitions than any machine has");
    devices = inputs.devices;
  }
  ASSAY_ASSIGN_OR_RETURN(result.arrays,
                         LoadArrays(*result.module, file.arrays_path, seed, devices));
  return result;
}

DeclaredOption AddProfileOption(OptionList& line, std::string& profile, const std::string& text) {
  return line.Add("--profile", profile, text)
      .OneOf({"strict", "xla", "xla-gpu", "xla@2026-09", "xla-gpu@2026-09"});
}

absl::StatusOr<const Profile*> ChooseProfile(const std::string& name, const Backend* backend) {
  if (!name.empty()) return Profile::Find(name);
  if (backend != nullptr && backend->Describe().profile != nullptr) {
    return backend->Describe().profile;
  }
  return &Profile::Xla();
}

}  // namespace assay
