// A finding: one program on which something under test misbehaved, as the campaign hands it to
// triage, and what triage gives back.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/backend/backend.h"
#include "spec/backend/oracle.h"
#include "spec/types/literal.h"

namespace assay {

// How a program fails, in the closed set of outcome classes. Only kWrongValue and kNondeterministic
// have outputs to look at.
enum class FindingKind : uint8_t {
  kWrongValue,        // an output element outside its allowed set
  kNondeterministic,  // same program, same inputs, different bits
  kRejected,          // the backend refuses a module that verifies
  kCompileCrash,      // the compiler died or reported an internal error
  kRunCrash,          // the executable died
  kTimeout,           // compile or run beyond the time limit
  kOutOfMemory,       // compile or run beyond the memory limit
  kHarness,  // our own generator, oracle or judge failed: a bug of Assay, not of the tested backend
};
inline constexpr int kFindingKindCount = 8;
std::string_view Name(FindingKind kind);
std::optional<FindingKind> FindingKindFromName(std::string_view name);

// Where in the life of a case a failure happened.
enum class CasePhase : uint8_t { kIdle, kGenerate, kOracle, kCompile, kRun, kJudge };
std::string_view Name(CasePhase phase);

struct Finding {
  FindingKind kind = FindingKind::kWrongValue;
  CasePhase phase = CasePhase::kJudge;
  std::string backend;          // name for BackendRegistry::Create
  CompileOptions options;       // with the planted defect, if there is one
  std::string profile;          // name of the numeric profile of the verdict
  uint64_t seed = 0;            // of the campaign; 0 with index -1: not generated
  int64_t index = -1;           // of the case in the campaign
  std::string module_text;      // HLO, long form; reads back to the same module
  std::vector<Literal> inputs;  // in parameter order
  std::string judgement;        // for people, several lines: DescribeFailure, or the error of the
                                // backend, or how it died
  // What the second check said; empty until it was made ("repeats in a fresh process; also with
  // exact inputs").
  std::string second_check;
};

// What triage made of a finding.
struct TriageResult {
  bool confirmed = false;  // it failed again, by itself
  std::string bucket;      // fingerprint: equal for findings that are the same bug
  std::string
      title;  // one line for a list: "ds-of-ds: wrong value in dynamic-slice(dynamic-slice)"
  std::string blamed_rule;  // "" when the backend has no gates or blame did not converge
  std::string blamed_where;
  int64_t blamed_decision = -1;
  int64_t instructions = 0;  // of the reduced program, parameters and constants included
  std::string page;          // folder of the bug page
};
using TriageFunction = std::function<absl::StatusOr<TriageResult>(
    const Finding& finding, Oracle& oracle, Backend& backend)>;

}  // namespace assay
