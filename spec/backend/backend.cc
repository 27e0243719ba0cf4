// Defaults of the interface, the registry, and options of backends.
#include "spec/backend/backend.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "spec/backend/oracle.h"
#include "spec/base/strings.h"

namespace assay {

std::string_view Name(DecisionKind kind) {
  constexpr std::string_view kNames[] = {"rewrite", "required", "fact",    "buffer",
                                         "kernel",  "llvm",     "library", "task"};
  return kNames[static_cast<size_t>(kind)];
}

absl::StatusOr<Expectation> Oracle::ExpectFrom(const Module&, const std::vector<const Literal*>&,
                                               const Captures&, const Profile&, const Limits&) {
  return MakeError(ErrorClass::kUnsupported, "this oracle does not go on from captured values");
}

absl::StatusOr<Literal> Oracle::DrawFrom(const Module&, const std::vector<const Literal*>&,
                                         const Captures&, const DrawOptions&, const Limits&) {
  return MakeError(ErrorClass::kUnsupported, "this oracle draws no legal evaluations");
}

absl::StatusOr<std::vector<DeviceOutputs>> Oracle::EvaluateDevices(const Module&,
                                                                   const DeviceAssignment&,
                                                                   const std::vector<DeviceInputs>&,
                                                                   const Limits&) {
  return MakeError(ErrorClass::kUnsupported, "this oracle runs one device");
}

absl::StatusOr<std::vector<DeviceExpectation>> Oracle::ExpectDevices(
    const Module&, const DeviceAssignment&, const std::vector<DeviceInputs>&, const Profile&,
    const Limits&) {
  return MakeError(ErrorClass::kUnsupported, "this oracle runs one device");
}

absl::StatusOr<std::vector<DeviceExpectation>> Oracle::ExpectDevicesFrom(
    const Module&, const DeviceAssignment&, const std::vector<DeviceInputs>&, const Captures&,
    const Profile&, const Limits&) {
  return MakeError(ErrorClass::kUnsupported, "this oracle does not go on from captured values");
}

absl::Status Executable::SetInfeed(std::vector<std::vector<Literal>>) {
  return MakeError(ErrorClass::kUnsupported, "this backend takes no infeed");
}

absl::StatusOr<std::unique_ptr<Module>> Executable::OptimizedModule() const {
  return MakeError(ErrorClass::kUnsupported, "this backend does not show its optimized module");
}

absl::StatusOr<std::string> Executable::Serialize() const {
  return MakeError(ErrorClass::kUnsupported, "this backend cannot serialize an executable");
}

const std::vector<Decision>& Executable::decisions() const {
  static const auto* none = new std::vector<Decision>();
  return *none;
}

absl::StatusOr<RunResult> CompileAndRun(Backend& backend, const Module& module,
                                        const std::vector<const Literal*>& arguments,
                                        const CompileOptions& options) {
  absl::StatusOr<std::unique_ptr<Executable>> executable = backend.Compile(module, options);
  if (!executable.ok()) return executable.status();
  return (*executable)->Run({arguments});
}

void BackendRegistry::Register(std::string family, std::string summary, Factory factory) {
  families_[std::move(family)] = {std::move(summary), std::move(factory)};
}

absl::StatusOr<std::unique_ptr<Backend>> BackendRegistry::Create(const std::string& name) const {
  size_t colon = name.find(':');
  std::string family = name.substr(0, colon);
  auto at = families_.find(family);
  if (at == families_.end()) {
    std::vector<std::string> known;
    for (const auto& entry : families_) known.push_back(entry.first);
    return absl::NotFoundError(
        StrCat("no backend is called '", family, "'; there are ", absl::StrJoin(known, ", ")));
  }
  return at->second.second(colon == std::string::npos ? "" : name.substr(colon + 1));
}

std::vector<std::pair<std::string, std::string>> BackendRegistry::Families() const {
  std::vector<std::pair<std::string, std::string>> list;
  for (const auto& [name, entry] : families_) list.emplace_back(name, entry.first);
  return list;
}

absl::StatusOr<std::map<std::string, std::string>> ParseBackendOptions(
    const std::string& options, absl::Span<const std::string_view> known) {
  std::map<std::string, std::string> result;
  if (options.empty()) return result;
  for (const std::string& part : std::vector<std::string>(absl::StrSplit(options, ','))) {
    size_t equals = part.find('=');
    std::string name = part.substr(0, equals);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return absl::InvalidArgumentError(StrCat(
          "unknown backend option '", name,
          "'; known: ", absl::StrJoin(known, ", ", [](std::string* out, std::string_view word) {
            out->append(word);
          })));
    }
    std::string value = equals == std::string::npos ? "" : part.substr(equals + 1);
    if (!result.emplace(name, value).second) {
      return absl::InvalidArgumentError(StrCat("backend option '", name, "' is given twice"));
    }
  }
  return result;
}

}  // namespace assay
