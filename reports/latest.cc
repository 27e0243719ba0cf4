// Puts the newest results of a kind of run together.
#include "reports/latest.h"
#include "reports/run_summary.h"

#include <algorithm>
#include <map>

#include "nlohmann/json.hpp"
#include "spec/base/strings.h"

namespace assay {
namespace {

using Json = nlohmann::json;

bool IsAboveZero(const Json& json, const char* key) { return Number(json, key) > 0; }

// True if it looked at all cases that it could have looked at. Runs of older versions say in their
// command alone that they were filtered.
bool IsWhole(const RunRow& run) {
  if (run.verb != "conform") return true;
  const Json summary = SummaryOf(run);
  return Word(summary, "filter").empty() && !IsAboveZero(summary, "not_run") &&
         run.command.find("--filter") == std::string::npos;
}

bool IsBad(const CaseRow& row) { return row.status == "failed" || row.status == "crashed"; }

bool Has(const std::vector<CaseRow>& rows, const CaseRow& wanted) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const CaseRow& row) { return IsSameCase(row, wanted); });
}

// The case was looked at again, on inputs that are not those which were recorded for it.
bool IsOnOtherInputs(const std::vector<CaseRow>& rows, const CaseRow& recorded) {
  if (recorded.inputs != CaseRow::kRecorded) return false;
  CaseRow other = recorded;
  return std::any_of(rows.begin(), rows.end(), [&](const CaseRow& row) {
    other.inputs = row.inputs;
    return row.inputs != recorded.inputs && IsSameCase(row, other);
  });
}

// Counts the cases anew, for the figures above the table.
void CountAgain(RunRow& run) {
  Json summary = SummaryOf(run);
  std::map<std::string, int64_t> counts;
  for (const CaseRow& row : run.cases) ++counts[row.status];
  for (const char* status : {"passed", "failed", "unsupported", "crashed"})
    summary[status] = counts[status];
  run.summary = summary.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string KindOf(const RunRow& run) {
  const Json json = SummaryOf(run);
  return StrCat(run.verb, "/", run.backend, "/", run.backend_version, "/", Word(json, "defect"),
                "/", Word(json, "suite"), "/", run.verb == "check" ? run.command : "");
}

bool IsSameCase(const CaseRow& a, const CaseRow& b) {
  const auto is_same = [](const std::string& x, const std::string& y) {
    return x == y || x.empty() || y.empty();  // runs of older versions did not note it
  };
  return a.name == b.name && a.subject == b.subject && is_same(a.source, b.source) &&
         is_same(a.inputs, b.inputs);
}

std::vector<RunRow> LatestOfEachKind(const std::vector<RunRow>& runs) {
  struct Known {
    RunRow run;
    bool is_whole;
  };
  std::vector<Known> known;
  std::map<std::string, size_t> places;
  for (const RunRow& run : runs) {
    const auto [at, is_new] = places.emplace(KindOf(run), known.size());
    if (is_new) {
      known.push_back({run, IsWhole(run)});
      continue;
    }
    Known& newer = known[at->second];
    bool is_changed = false;
    std::vector<CaseRow>& rows = newer.run.cases;
    const std::vector<CaseRow> before = rows;
    for (const CaseRow& row : run.cases) {
      if (Has(before, row)) continue;
      if (newer.is_whole && !(IsBad(row) && IsOnOtherInputs(before, row))) continue;
      rows.push_back(row);
      is_changed = true;
    }
    newer.is_whole = newer.is_whole || IsWhole(run);
    if (is_changed && run.verb == "conform") CountAgain(newer.run);
  }
  std::vector<RunRow> latest;
  for (Known& one : known) latest.push_back(std::move(one.run));
  std::reverse(latest.begin(), latest.end());
  return latest;
}

}  // namespace assay
