// One module with inputs, checked: the oracle says which answers are right, and the answers of a
// backend and those stored beside the module are judged.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "conformance/case_files.h"
#include "nlohmann/json.hpp"
#include "spec/backend/backend.h"
#include "spec/backend/oracle.h"
#include "spec/numerics/expectation.h"

namespace assay {

// In order of how much they matter: the status of a module is the largest of its subjects'.
enum class CheckStatus : uint8_t {
  kPassed,
  kInconclusive,
  kUnsupported,  // the oracle or the backend says that it does not do this, by name
  kFailed,
  kCrashed,     // the backend died, hung, or ran out of memory; a limit of the oracle: inconclusive
  kUnreadable,  // no module, or no arrays that fit it
};
std::string_view Name(CheckStatus status);
CheckStatus Worse(CheckStatus a, CheckStatus b);

// The judgement of one answer.
struct SubjectResult {
  std::string subject;  // the backend's name, or "stored"
  CheckStatus status = CheckStatus::kPassed;
  std::string detail;  // several lines, for people: why not passed
  std::string waived;  // why a stored answer that fails counts as passed (waivers.json)
  int64_t elements = 0, failed = 0, inconclusive = 0, forced = 0;
  double bound_used = 0;  // largest deviation as a part of the radius
  double compile_seconds = 0, run_seconds = 0;
};

struct ModuleResult {
  std::string name, path;
  CheckStatus status = CheckStatus::kPassed;
  std::string detail;  // when no subject was judged
  std::vector<std::string>
      unsupported;  // names of ops and types that the oracle has no meaning for
  int64_t instructions = 0;
  bool inputs_generated = false;
  double oracle_seconds = 0;
  std::vector<SubjectResult> subjects;
};

struct CheckOptions {
  const Profile* profile = nullptr;
  CompileOptions compile;
  uint64_t seed = 1;  // of inputs for modules that come without
};

// What is right on one device, or on several, whose outputs then follow each other.
absl::StatusOr<Expectation> ExpectCase(const Module& module, const CaseArrays& arrays,
                                       Oracle& oracle, const CheckOptions& options);

// A stored answer that is proved wrong is listed with the proof (conformance/waivers.h). It then
// counts as passed.
//
// `backend` may be nullptr: only the stored answers are judged then. `at` is told, before each
// step, what is about to be done, so that a caller can say where a child process died.
ModuleResult CheckModule(const CaseFile& file, Oracle& oracle, Backend* backend,
                         const CheckOptions& options,
                         const std::function<void(const char* step)>& at);

// The JSON form is what `assay check --json` prints for a module (docs/json.md) and how a child
// process hands its result back.
nlohmann::json ToJson(const ModuleResult& result);
ModuleResult ModuleResultFromJson(const nlohmann::json& json);

}  // namespace assay
