// The options of assay conform that write packages, check them and lay them side by side.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "reports/package/package.h"
#include "reports/store.h"
#include "tools/assay/cases/known_option.h"
#include "tools/assay/command_line.h"

namespace assay {

struct PackageOption {
  std::string folder;                // to write
  std::string verify;                // to check
  std::vector<std::string> compare;  // to lay side by side
  std::vector<std::string> models;   // modules whose instructions weigh the forms
  int64_t sample = 0;                // cases of a package to run again

  void Declare(OptionList& line);
  // Does what --verify-package or --compare asks; nullopt: neither was given. `page`: where the
  // comparison goes; `known` names the classes of failures in it.
  absl::StatusOr<std::optional<int>> Do(const std::string& page, const std::string& python,
                                        double timeout, const KnownOption& known) const;
  // Writes the package if one was asked for. `asked` has no names yet.
  absl::Status Save(const RunRow& run, const SuiteSelection& asked,
                    const std::string& waivers = "") const;
};

}  // namespace assay
