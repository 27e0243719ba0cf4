#include "conformance/module_check.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "conformance/waivers.h"
#include "spec/base/strings.h"
#include "spec/files/load_module.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

constexpr std::array<std::string_view, 6> kStatusNames = {"passed", "inconclusive", "unsupported",
                                                          "failed", "crashed",      "unreadable"};

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// How an error of something under test counts.
CheckStatus StatusOf(const absl::Status& error) {
  switch (ClassOf(error)) {
    case ErrorClass::kUnsupported:
      return CheckStatus::kUnsupported;
    case ErrorClass::kRejected:
      return CheckStatus::kFailed;
    default:
      return CheckStatus::kCrashed;
  }
}

// A limit of the oracle is no crash: nobody knows which answers are right. Devices that wait for
// each other are the program's fault and have another class.
CheckStatus OracleStatusOf(const absl::Status& error) {
  const ErrorClass error_class = ClassOf(error);
  const bool is_limit =
      error_class == ErrorClass::kTimeout || error_class == ErrorClass::kOutOfMemory;
  return is_limit ? CheckStatus::kInconclusive : StatusOf(error);
}

std::string ErrorText(const absl::Status& error) {
  return StrCat(Name(ClassOf(error)), ": ", ToStd(error.message()));
}

void Note(SubjectResult& subject, const Judgement& judgement) {
  subject.elements = judgement.elements;
  subject.failed = judgement.failed;
  subject.inconclusive = judgement.inconclusive;
  subject.forced = judgement.forced;
  subject.bound_used = judgement.max_ulps_used;
  if (judgement.verdict == Verdict::kFail) subject.status = CheckStatus::kFailed;
  if (judgement.verdict == Verdict::kInconclusive) subject.status = CheckStatus::kInconclusive;
  if (judgement.verdict != Verdict::kPass) subject.detail = judgement.reason;
}

// DescribeFailure wants one literal; stored results come as leaves. Devices follow each other.
Literal Gathered(const Shape& shape, const std::vector<Literal>& leaves, size_t& next) {
  if (!shape.IsTuple()) return leaves[next++];
  std::vector<Literal> elements;
  for (const Shape& element : shape.elements()) elements.push_back(Gathered(element, leaves, next));
  return Literal::Tuple(std::move(elements));
}

Literal Together(std::vector<Literal> devices) {
  return devices.size() == 1 ? std::move(devices[0]) : Literal::Tuple(std::move(devices));
}

SubjectResult JudgeAnswer(std::string subject, const Expectation& expectation,
                          const Literal& answer) {
  SubjectResult result;
  result.subject = std::move(subject);
  Judgement judgement = Judge(expectation, answer);
  Note(result, judgement);
  if (judgement.verdict == Verdict::kFail) {
    result.detail = DescribeFailure(expectation, answer, judgement);
  }
  return result;
}

SubjectResult CheckBackend(const Module& module, const CaseArrays& arrays,
                           const Expectation& expectation, Backend& backend, CompileOptions options,
                           const std::function<void(const char*)>& at) {
  SubjectResult result;
  result.subject = backend.Describe().name;
  at("compiling");
  options.devices = arrays.devices;
  double start = Now();
  absl::StatusOr<std::unique_ptr<Executable>> executable = backend.Compile(module, options);
  result.compile_seconds = Now() - start;
  if (!executable.ok()) {
    result.status = StatusOf(executable.status());
    result.detail = ErrorText(executable.status());
    return result;
  }
  if (!backend.Describe().can_run) {
    result.status = CheckStatus::kUnsupported;
    result.detail = "the backend compiles only; it compiled the module";
    return result;
  }
  at("running");
  absl::StatusOr<RunResult> run = (*executable)->Run(ArgumentsByDevice(arrays));
  if (!run.ok()) {
    result.status = StatusOf(run.status());
    result.detail = ErrorText(run.status());
    return result;
  }
  at("judging");
  double compile_seconds = result.compile_seconds;
  const double seconds = run->seconds;
  result = JudgeAnswer(result.subject, expectation, Together(std::move(run->outputs)));
  result.compile_seconds = compile_seconds;
  result.run_seconds = seconds;
  return result;
}

ModuleResult& Ended(ModuleResult& result, CheckStatus status, std::string detail) {
  result.status = status;
  result.detail = std::move(detail);
  return result;
}

}  // namespace

std::string_view Name(CheckStatus status) { return kStatusNames[static_cast<size_t>(status)]; }

CheckStatus Worse(CheckStatus a, CheckStatus b) { return std::max(a, b); }

absl::StatusOr<Expectation> ExpectCase(const Module& module, const CaseArrays& arrays,
                                       Oracle& oracle, const CheckOptions& options) {
  const Limits& limits = options.compile.limits;
  if (arrays.devices.replicas * arrays.devices.partitions == 1)
    return oracle.Expect(module, Pointers(arrays.arguments), *options.profile, limits);
  std::vector<DeviceInputs> inputs;
  for (std::vector<const Literal*>& arguments : ArgumentsByDevice(arrays))
    inputs.push_back({std::move(arguments), {}});
  auto devices = oracle.ExpectDevices(module, arrays.devices, inputs, *options.profile, limits);
  if (!devices.ok()) return devices.status();
  Expectation all;
  for (DeviceExpectation& device : *devices) {
    all.inconclusive = device.result.inconclusive;
    for (ArrayExpectation& leaf : device.result.leaves) all.leaves.push_back(std::move(leaf));
  }
  return all;
}

ModuleResult CheckModule(const CaseFile& file, Oracle& oracle, Backend* backend,
                         const CheckOptions& options,
                         const std::function<void(const char* step)>& at) {
  ModuleResult result;
  result.name = file.name;
  result.path = file.module_path;
  at("reading");
  absl::StatusOr<std::unique_ptr<Module>> module = LoadModule(file.module_path);
  if (!module.ok()) {
    return Ended(result, CheckStatus::kUnreadable, std::string(module.status().message()));
  }
  result.instructions = (*module)->InstructionCount();
  result.unsupported = Unsupported(**module);
  if (!result.unsupported.empty()) return Ended(result, CheckStatus::kUnsupported, "");
  absl::StatusOr<CaseArrays> arrays = LoadArrays(**module, file.arrays_path, options.seed);
  if (!arrays.ok()) {
    return Ended(result, CheckStatus::kUnreadable, std::string(arrays.status().message()));
  }
  result.inputs_generated = arrays->generated;

  at("evaluating on the oracle");
  double start = Now();
  absl::StatusOr<Expectation> expectation = ExpectCase(**module, *arrays, oracle, options);
  result.oracle_seconds = Now() - start;
  if (!expectation.ok()) {
    return Ended(result, OracleStatusOf(expectation.status()),
                 StrCat("oracle: ", ErrorText(expectation.status())));
  }
  if (!arrays->stored.empty()) {
    size_t next = 0;
    std::vector<Literal> devices;
    while (next < arrays->stored.size())
      devices.push_back(Gathered((*module)->entry()->root()->shape(), arrays->stored, next));
    result.subjects.push_back(JudgeAnswer("stored", *expectation, Together(std::move(devices))));
    SubjectResult& stored = result.subjects.back();
    if (stored.status == CheckStatus::kFailed) stored.waived = WaiverOf(file);
    if (!stored.waived.empty()) stored.status = CheckStatus::kPassed;
  }
  if (backend != nullptr) {
    result.subjects.push_back(
        CheckBackend(**module, *arrays, *expectation, *backend, options.compile, at));
  }
  for (const SubjectResult& subject : result.subjects) {
    result.status = Worse(result.status, subject.status);
  }
  return result;
}

nlohmann::json ToJson(const ModuleResult& result) {
  nlohmann::json subjects = nlohmann::json::array();
  for (const SubjectResult& subject : result.subjects) {
    subjects.push_back({{"subject", subject.subject},
                        {"status", Name(subject.status)},
                        {"detail", subject.detail},
                        {"waived", subject.waived},
                        {"elements", subject.elements},
                        {"failed", subject.failed},
                        {"inconclusive", subject.inconclusive},
                        {"forced", subject.forced},
                        {"bound_used", subject.bound_used},
                        {"compile_seconds", subject.compile_seconds},
                        {"run_seconds", subject.run_seconds}});
  }
  return {{"name", result.name},
          {"path", result.path},
          {"status", Name(result.status)},
          {"detail", result.detail},
          {"unsupported", result.unsupported},
          {"instructions", result.instructions},
          {"inputs_generated", result.inputs_generated},
          {"oracle_seconds", result.oracle_seconds},
          {"subjects", subjects}};
}

namespace {

CheckStatus StatusFromName(const std::string& name) {
  auto at = std::find(kStatusNames.begin(), kStatusNames.end(), name);
  return at == kStatusNames.end() ? CheckStatus::kCrashed
                                  : static_cast<CheckStatus>(at - kStatusNames.begin());
}

}  // namespace

ModuleResult ModuleResultFromJson(const nlohmann::json& json) {
  ModuleResult result;
  result.name = json.value("name", "");
  result.path = json.value("path", "");
  result.status = StatusFromName(json.value("status", ""));
  result.detail = json.value("detail", "");
  result.unsupported = json.value("unsupported", std::vector<std::string>());
  result.instructions = json.value("instructions", int64_t{0});
  result.inputs_generated = json.value("inputs_generated", false);
  result.oracle_seconds = json.value("oracle_seconds", 0.0);
  for (const nlohmann::json& entry : json.value("subjects", nlohmann::json::array())) {
    SubjectResult subject;
    subject.subject = entry.value("subject", "");
    subject.status = StatusFromName(entry.value("status", ""));
    subject.detail = entry.value("detail", "");
    subject.waived = entry.value("waived", "");
    subject.elements = entry.value("elements", int64_t{0});
    subject.failed = entry.value("failed", int64_t{0});
    subject.inconclusive = entry.value("inconclusive", int64_t{0});
    subject.forced = entry.value("forced", int64_t{0});
    subject.bound_used = entry.value("bound_used", 0.0);
    subject.compile_seconds = entry.value("compile_seconds", 0.0);
    subject.run_seconds = entry.value("run_seconds", 0.0);
    result.subjects.push_back(std::move(subject));
  }
  return result;
}

}  // namespace assay
