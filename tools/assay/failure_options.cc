// Reads or generates the failing case that a verb is told of.
#include "tools/assay/failure_options.h"

#include <filesystem>
#include <optional>
#include <system_error>

#include "conformance/recorded_result.h"
#include "fuzz/blame/requests.h"
#include "fuzz/generator/generate.h"
#include "fuzz/generator/input_sets.h"
#include "fuzz/triage/bug_page.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"
#include "spec/text/writer.h"
#include "tools/assay/defect_option.h"

namespace assay {
namespace {

bool IsBugFolder(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(std::filesystem::path(path) / "finding.json", error);
}

// Blame and reduction give all devices the same inputs.
absl::StatusOr<std::vector<Literal>> InputsOfAll(CaseArrays arrays) {
  const auto devices = static_cast<size_t>(arrays.devices.replicas * arrays.devices.partitions);
  const size_t each = arrays.arguments.size() / devices;
  for (size_t i = each; i < arrays.arguments.size() && !arrays.generated; ++i) {
    if (arrays.arguments[i].BitwiseEqual(arrays.arguments[i % each])) continue;
    return absl::InvalidArgumentError(
        StrCat("the inputs of device ", i / each,
               " differ from those of device 0; programs on several devices are blamed and reduced "
               "with the same inputs everywhere (arrays in0, in1, ... without a device's number)"));
  }
  arrays.arguments.resize(each);
  return std::move(arrays.arguments);
}

// The first of several recorded runs of a module whose result is wrong; "": there is none.
std::string WrongRun(const FailureOptions& options) {
  if (!options.inputs.inputs.empty() || options.inputs.random_given) return "";
  const absl::StatusOr<std::vector<CaseFile>> cases = FindCases(options.path);
  const bool is_one_module =
      cases.ok() && cases->size() > 1 && cases->front().module_path == cases->back().module_path;
  if (!is_one_module) return "";
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  for (const CaseFile& file : *cases) {
    const std::optional<Outcome> recorded =
        JudgeRecorded(file, *oracle, Profile::Xla(), kTriageLimits);
    if (recorded.has_value() && recorded->kind == Outcome::kWrong) return file.arrays_path;
  }
  return "";
}

}  // namespace

absl::StatusOr<ReadCase> ReadFailure(const FailureOptions& options) {
  ReadCase read;
  Finding& finding = read.finding;
  if (!options.path.empty() && IsBugFolder(options.path)) {
    ASSAY_ASSIGN_OR_RETURN(finding, LoadFinding(options.path));
    return read;
  }
  if (!options.path.empty()) {
    InputOptions inputs = options.inputs;
    if (const std::string run = WrongRun(options); !run.empty()) inputs.inputs = run;
    ASSAY_ASSIGN_OR_RETURN(LoadedCase loaded, LoadCase(options.path, inputs));
    finding.module_text = WriteModule(*loaded.module);
    ASSAY_ASSIGN_OR_RETURN(finding.inputs, InputsOfAll(std::move(loaded.arrays)));
    read.file = std::move(loaded.file);
    read.inputs = std::move(loaded.inputs);
    return read;
  }
  if (options.index < 0) {
    return absl::InvalidArgumentError("name a bug folder or a module, or give --seed and --index");
  }
  const std::string backend = options.backend.empty() ? "cpu" : options.backend;
  ASSAY_ASSIGN_OR_RETURN(const GeneratorOptions generator,
                         GeneratorFor(backend, options.python, options.portable));
  const auto index = static_cast<uint64_t>(options.index);
  const Case made = GenerateCase(options.seed, index, generator);
  finding.module_text = WriteModule(*made.module);
  finding.inputs = InputSet(made, options.seed, index, options.input_set);
  finding.seed = options.seed;
  finding.index = options.index;
  return read;
}

void FailureOptions::Declare(OptionList& line, bool generated) {
  const DeclaredOption from = line.Add("PATH", path, "A bug folder, or a module");
  if (!generated) from.Required();
  inputs.Declare(line);
  AddBackendOption(line, backend, python, "Who fails (default: that of the bug folder, or cpu)");
  AddProfileOption(line, profile, "By which it is judged (default: the backend's)");
  line.Add("--defect", defect, "Plant this defect first");
  if (!generated) return;
  line.Add("--seed", seed, "Of the campaign").ShowDefault();
  line.Add("--index", index, "Of the case in the campaign").NonNegative();
  line.Add("--input-set", input_set,
           "Which of the case's inputs (input_set of the campaign's results)")
      .NonNegative();
  line.AddFlag("--foreign", portable, "The campaign was of portable programs");
}

CheckSubject FailureCase::Subject() const {
  return CheckSubject{*oracle, *backend, *profile, finding.options, kTriageLimits};
}

absl::StatusOr<std::unique_ptr<FailureCase>> OpenFailure(const FailureOptions& options) {
  auto failure = std::make_unique<FailureCase>();
  ASSAY_ASSIGN_OR_RETURN(ReadCase read, ReadFailure(options));
  failure->finding = std::move(read.finding);
  failure->file = std::move(read.file);
  failure->inputs = std::move(read.inputs);
  if (!options.backend.empty()) failure->finding.backend = options.backend;
  if (failure->finding.backend.empty()) failure->finding.backend = "cpu";
  if (!options.defect.empty()) {
    ASSAY_ASSIGN_OR_RETURN(failure->finding.options.defect, DefectJson(options.defect));
  }
  ASSAY_ASSIGN_OR_RETURN(failure->module, ReadModule(failure->finding.module_text));
  ASSAY_ASSIGN_OR_RETURN(failure->backend, OpenBackend(failure->finding.backend, options.python));
  failure->oracle = MakeOracle();
  std::string profile = options.profile.empty() ? failure->finding.profile : options.profile;
  ASSAY_ASSIGN_OR_RETURN(failure->profile, ChooseProfile(profile, failure->backend.get()));
  failure->finding.profile = std::string(failure->profile->name());
  return failure;
}

}  // namespace assay
