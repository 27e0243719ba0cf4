// Matches the cases of a run with waivers.
#include "fuzz/triage/known_cases.h"

#include "spec/base/strings.h"

namespace assay {
namespace {

std::string Who(const KnownBug& bug) {
  const std::string& name =
      bug.case_name.empty() ? (bug.bucket.empty() ? bug.signature : bug.bucket) : bug.case_name;
  return StrCat("the waiver of ", name, bug.owner.empty() ? "" : ", owned by ", bug.owner);
}

}  // namespace

KnownCases::KnownCases(std::vector<KnownBug> known, const std::string& backend_version,
                       const std::string& today) {
  ended_ = RemoveExpired(known, today);
  for (KnownBug& bug : known) {
    if (bug.case_name.empty() || !IsOfVersion(bug, backend_version)) continue;
    waivers_.push_back({std::move(bug), 0, 0, ""});
  }
}

std::string KnownCases::Excuse(std::string_view name, std::string_view status) {
  const bool is_passed = status == "passed";
  const bool is_failed =
      status == "failed" || status == "crashed" || status == "timed out" || status == "rejected";
  if (!is_passed && !is_failed) return "";
  std::string excuse;
  for (Waiver& waiver : waivers_) {
    const KnownBug& bug = waiver.bug;
    if (!MatchesPattern(bug.case_name, name)) continue;
    if (is_passed) {
      if (waiver.passed++ == 0) waiver.passed_case = name;
      continue;
    }
    ++waiver.failed;
    if (!excuse.empty()) continue;
    excuse = StrCat(bug.reason, " (", bug.owner, bug.expires.empty() ? "" : ", until ", bug.expires,
                    ")");
  }
  return excuse;
}

std::vector<std::string> KnownCases::Alarms() const {
  std::vector<std::string> alarms;
  for (const KnownBug& bug : ended_) {
    alarms.push_back(StrCat(Who(bug), ", ended on ", bug.expires, ": ", bug.reason,
                            "; is it still so? Give it a new day or take it out"));
  }
  for (const Waiver& waiver : waivers_) {
    if (waiver.failed > 0 || waiver.passed == 0) continue;
    alarms.push_back(StrCat(Who(waiver.bug), ": ", waiver.passed_case,
                            " passes; take the waiver out (", waiver.bug.reason, ")"));
  }
  return alarms;
}

}  // namespace assay
