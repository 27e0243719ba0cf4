// Reads waivers and tells of those that are out of date.
#include "tools/assay/cases/known_option.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "tools/assay/findings/campaign_tools.h"
#include "tools/assay/terminal.h"

namespace assay {

void KnownOption::Declare(OptionList& line) {
  line.Add("--known", path,
           "Failures that are known already, a file or a ledger of causes: counted as waived; one "
           "that has ended, or whose case passes, is an alarm (docs/json.md)");
}

absl::StatusOr<KnownCases> KnownOption::Read(const std::string& backend_version) const {
  if (path.empty()) return KnownCases();
  ASSAY_ASSIGN_OR_RETURN(std::vector<KnownBug> known, KnownBugsOf(path));
  return KnownCases(std::move(known), backend_version, TodayUtc());
}

std::string KnownOption::Text() const {
  std::ifstream file(path);
  if (path.empty() || std::filesystem::is_directory(path) || !file) return "";
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void PrintAlarms(const std::vector<std::string>& alarms, bool json) {
  if (json) return;
  for (const std::string& alarm : alarms) Print(StrCat(Styled(Style::kBad, "alarm"), " ", alarm));
}

}  // namespace assay
