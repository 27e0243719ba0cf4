// --known FILE: failures that somebody knows of, alike for every verb that judges cases.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "fuzz/triage/known_cases.h"
#include "tools/assay/command_line.h"

namespace assay {

struct KnownOption {
  std::string path;  // a file of known bugs, or a ledger of causes; "": nothing is known

  void Declare(OptionList& line);
  // The file as it is, for a package; "" of a ledger and where there is none.
  std::string Text() const;
  absl::StatusOr<KnownCases> Read(const std::string& backend_version) const;
};

// Prints the alarms, unless they are told in JSON.
void PrintAlarms(const std::vector<std::string>& alarms, bool json);

}  // namespace assay
