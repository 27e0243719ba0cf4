// The suite "invalid" of assay conform: modules that must be refused.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "fuzz/triage/known_cases.h"
#include "reports/store.h"
#include "spec/backend/backend.h"

namespace assay {

struct InvalidCase {
  // "by-hand__NAME": a constraint of the documents; "RULE__OP": a valid program with a rule broken.
  std::string name;
  std::string text;                // by hand
  std::unique_ptr<Module> module;  // nullptr: the reader itself refuses the text
};

// Takes those whose name has `filter` in it. Errors: none has; a case that is valid.
absl::StatusOr<std::vector<InvalidCase>> InvalidCases(const std::string& filter);

struct InvalidOptions {
  std::string backend, filter;
  bool json = false;
  Limits limits;
};

// Hands the modules to the backend: "passed" where it refuses one as wrong, "failed" where it
// compiles it. A backend in this process is never given what the verifier refused: the verifier is
// its gate, and is what is judged. Text that the reader refuses goes to no other process
// ("unsupported"). Prints a table by rule.
absl::StatusOr<std::vector<CaseRow>> RunInvalid(const InvalidOptions& options, Backend& backend,
                                                KnownCases& known);

}  // namespace assay
