// Cases in processes of their own.
#include "fuzz/backends/pjrt/protocol/suite.h"

#include <memory>
#include <utility>

#include "spec/base/strings.h"
#include "spec/process/isolate.h"

namespace assay::pjrt {
namespace {

constexpr char kPassed = 'p', kViolates = 'v', kNotThere = 'n', kSick = 's';

std::string Answer(char kind, std::string_view words) {
  return StrCat(std::string(1, kind), words);
}

std::string RunHere(const ProtocolCase& one, const std::string& path) {
  const absl::StatusOr<std::unique_ptr<Plugin>> plugin = Plugin::Load(path);
  if (!plugin.ok()) return Answer(kSick, ToStd(plugin.status().message()));
  Session session(**plugin, one.devices);
  absl::Status status = one.body(session);
  if (status.ok()) status = session.Noted();
  if (status.ok()) return Answer(kPassed, "");
  return Answer(IsNotThere(status) ? kNotThere : kViolates, ToStd(status.message()));
}

IsolateLimits LimitsOf(double seconds) {
  IsolateLimits limits;
  limits.seconds = seconds;
  limits.ends_on_interrupt = true;
  return limits;
}

}  // namespace

std::string_view Name(CaseEnd end) {
  switch (end) {
    case CaseEnd::kPassed:
      return "passed";
    case CaseEnd::kViolates:
      return "violates";
    case CaseEnd::kCrashed:
      return "crashed";
    case CaseEnd::kNotThere:
      return "not there";
  }
  return "?";
}

std::vector<ProtocolCase> ProtocolCases() {
  std::vector<ProtocolCase> cases;
  AddObjectCases(cases);
  AddBufferCases(cases);
  AddProgramCases(cases);
  AddAskedCases(cases);
  AddHostileCases(cases);
  return cases;
}

void AddRows(absl::Span<const CaseRow> rows, std::vector<ProtocolCase>& cases) {
  for (const CaseRow& row : rows)
    cases.push_back({row.name, row.level, row.rule, row.body, row.devices});
}

CaseResult RunProtocolCase(const ProtocolCase& one, const std::string& plugin, double seconds) {
  const Isolated isolated = RunIsolated([&] { return RunHere(one, plugin); }, LimitsOf(seconds));
  CaseResult result;
  result.seconds = isolated.seconds;
  if (!isolated.ok() || isolated.bytes.empty()) {
    result.end = CaseEnd::kCrashed;
    result.detail = isolated.Describe();
    return result;
  }
  result.detail = isolated.bytes.substr(1);
  switch (isolated.bytes[0]) {
    case kPassed:
      result.end = CaseEnd::kPassed;
      break;
    case kViolates:
      result.end = CaseEnd::kViolates;
      break;
    case kNotThere:
      result.end = CaseEnd::kNotThere;
      break;
    default:
      result.end = CaseEnd::kCrashed;
  }
  return result;
}

absl::StatusOr<std::string> TryPlugin(const std::string& path) {
  constexpr double kSeconds = 60;
  const Isolated isolated = RunIsolated(
      [&]() -> std::string {
        const absl::StatusOr<std::unique_ptr<Plugin>> plugin = Plugin::Load(path);
        if (!plugin.ok()) return Answer(kSick, ToStd(plugin.status().message()));
        const PluginFacts& facts = (*plugin)->facts();
        return Answer(kPassed, StrCat("PJRT API ", facts.major_version, ".", facts.minor_version,
                                      ", ", kFunctionCount - facts.missing_functions, " of ",
                                      kFunctionCount, " functions"));
      },
      LimitsOf(kSeconds));
  if (!isolated.ok()) {
    return MakeError(ErrorClass::kSickMachine,
                     StrCat("the plug-in cannot be loaded: ", isolated.Describe()));
  }
  if (isolated.bytes[0] != kPassed)
    return MakeError(ErrorClass::kSickMachine, isolated.bytes.substr(1));
  return isolated.bytes.substr(1);
}

}  // namespace assay::pjrt
