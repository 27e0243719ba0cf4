// Tells what is known in the forms that other programs read: JUnit for test views of CI,
// SARIF 2.1.0 (OASIS, 2020) for code scanning, Markdown for pull requests, JSON for scripts.
#pragma once

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "reports/store.h"

namespace assay {

struct ReportForm {
  const char* name;
  // `runs` newest first, as Store::Latest gives them; what is shown is what is known of each kind
  // of run (latest.h). The result is UTF-8, whatever stands in the rows.
  std::string (*render)(const std::vector<RunRow>& runs);
};

absl::Span<const ReportForm> ReportForms();

}  // namespace assay
