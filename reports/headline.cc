// Names the failures of the newest runs, the first few in words and the rest by their number.
#include "reports/headline.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "nlohmann/json.hpp"
#include "reports/latest.h"
#include "reports/numbers.h"
#include "reports/run_summary.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr size_t kMostNamed = 3;

// The start of the first run of those in which the case has failed ever since.
int64_t FailsSince(const RunRow& shown, const CaseRow& wanted, const std::vector<RunRow>& all) {
  int64_t since = shown.started_ms;
  for (const RunRow& run : all) {
    const bool is_same_judge = run.verb == shown.verb && run.backend == shown.backend &&
                               run.backend_version == shown.backend_version;
    if (!is_same_judge) continue;
    if (run.started_ms > shown.started_ms) continue;
    for (const CaseRow& row : run.cases) {
      if (!IsSameCase(row, wanted)) continue;
      if (!IsBad(row)) return since;
      since = run.started_ms;
    }
  }
  return since;
}

int64_t FoundFirst(const FindingRow& wanted, int64_t shown_ms, const std::vector<RunRow>& all) {
  int64_t first = shown_ms;
  for (const RunRow& run : all) {
    for (const FindingRow& finding : run.findings)
      if (finding.fingerprint == wanted.fingerprint) first = std::min(first, run.started_ms);
  }
  return first;
}

// Things that are wrong in the same way: their number, and the first few by name.
struct WrongAnswers {
  std::vector<std::string> named;
  int64_t count = 0;

  void Add(const std::string& text) {
    if (named.size() < kMostNamed) named.push_back(text);
    ++count;
  }
  // " (this since ..., that since ... and 4 more)"
  std::string Names() const {
    std::string text;
    for (const std::string& name : named) StrAppend(&text, text.empty() ? "" : ", ", name);
    const int64_t rest = count - static_cast<int64_t>(named.size());
    if (rest > 0 && !named.empty()) StrAppend(&text, " and ", rest, " more");
    return text.empty() ? "" : StrCat(" (", text, ")");
  }
};

struct Standing {
  WrongAnswers cases, bugs;
  std::set<std::string> fingerprints;

  std::string ToString() const {
    if (cases.count + bugs.count == 0) return "nothing wrong was found";
    std::string text;
    if (cases.count > 0) StrAppend(&text, cases.count, " failed or crashed", cases.Names());
    if (cases.count > 0 && bugs.count > 0) text += ", ";
    if (bugs.count > 0) {
      StrAppend(&text, Count(bugs.count, "distinct bug"), " from campaigns", bugs.Names());
    }
    return text;
  }
};

bool HasPlantedDefect(const RunRow& run) { return !Word(SummaryOf(run), "defect").empty(); }

int64_t BucketsOf(const RunRow& run) { return std::llround(Number(SummaryOf(run), "buckets")); }

void AddCases(const RunRow& run, const std::vector<RunRow>& all, WrongAnswers& wrongs) {
  for (const CaseRow& row : run.cases) {
    if (!IsBad(row)) continue;
    if (wrongs.named.size() >= kMostNamed) {
      ++wrongs.count;
      continue;
    }
    const bool is_other = !row.subject.empty() && row.subject != run.backend;
    wrongs.Add(StrCat(row.name, is_other ? " (" + row.subject + ")" : "", " since ",
                      UtcTime(FailsSince(run, row, all))));
  }
}

void AddBugs(const RunRow& run, const std::vector<RunRow>& all, Standing& standing) {
  const int64_t before = standing.bugs.count;
  for (const FindingRow& finding : run.findings) {
    if (!standing.fingerprints.insert(finding.fingerprint).second) continue;
    standing.bugs.Add(
        StrCat(finding.title, " since ", UtcTime(FoundFirst(finding, run.started_ms, all))));
  }
  // A campaign may keep fewer findings than it tells apart.
  standing.bugs.count = std::max(standing.bugs.count, before + BucketsOf(run));
}

}  // namespace

std::string Headline(const std::vector<RunRow>& latest, const std::vector<RunRow>& all) {
  // By backend and release.
  std::map<std::pair<std::string, std::string>, Standing> standings;
  std::map<std::string, std::set<std::string>> releases;
  int64_t found = 0, planted = 0;
  for (const RunRow& run : latest) {
    if (run.verb == "defects") continue;
    Standing& standing = standings[{run.backend, run.backend_version}];
    releases[run.backend].insert(run.backend_version);
    AddCases(run, all, standing.cases);
    if (run.verb != "fuzz") continue;
    if (HasPlantedDefect(run)) {
      ++planted;
      found += run.findings.empty() ? 0 : 1;
    } else {
      AddBugs(run, all, standing);
    }
  }
  std::string text;
  for (const auto& [judge, standing] : standings) {
    const auto& [backend, release] = judge;
    const bool is_one_of_several = releases[backend].size() > 1 && !release.empty();
    StrAppend(&text, text.empty() ? "" : "; ", backend,
              is_one_of_several ? StrCat(" (", release, ")") : "", ": ", standing.ToString());
  }
  if (planted > 0) {
    StrAppend(&text, text.empty() ? "" : "; ", "planted defects found: ", found, " of ", planted);
  }
  return text + ".";
}

}  // namespace assay
