// A failing case as blame, reduce and replay are told of it: a bug folder, a module with inputs, or
// a case of a campaign.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "fuzz/finding.h"
#include "spec/backend/backend.h"
#include "spec/backend/check.h"
#include "spec/backend/oracle.h"
#include "tools/assay/command_line.h"
#include "tools/assay/environment.h"

namespace assay {

struct FailureOptions {
  std::string path;     // bug folder or module; "": seed and index
  std::string backend;  // "": cpu, or that of the bug folder
  std::string python;   // of the xla backends
  std::string profile;
  std::string defect;
  InputOptions inputs;
  uint64_t seed = 1;
  int64_t index = -1;
  int64_t input_set = 0;  // as results of the campaign have it; 0 is the first
  bool portable = false;

  void Declare(OptionList& line, bool generated);
};

// All that a check of the case needs.
struct FailureCase {
  Finding finding;
  CaseFile file;       // of a module in a file
  std::string inputs;  // where its inputs come from; "" for bug folders and cases of campaigns
  std::unique_ptr<Module> module;
  std::unique_ptr<Oracle> oracle;
  std::unique_ptr<Backend> backend;
  const Profile* profile = nullptr;

  CheckSubject Subject() const;
  CheckCase Case() const { return CheckCase::Of(*module, finding.inputs); }
};

// Reads or generates the case; no backend is opened.
struct ReadCase {
  Finding finding;
  CaseFile file;  // as FailureCase has them
  std::string inputs;
};
absl::StatusOr<ReadCase> ReadFailure(const FailureOptions& options);

// Reads or generates the case and opens its backend. The case was not run yet: the kind of the
// finding is what the bug folder says, otherwise wrong value.
absl::StatusOr<std::unique_ptr<FailureCase>> OpenFailure(const FailureOptions& options);

}  // namespace assay
