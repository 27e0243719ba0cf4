// Puts the newest results of a kind of run together.
#include "reports/latest.h"
#include "reports/run_summary.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "nlohmann/json.hpp"
#include "spec/base/strings.h"

namespace assay {
namespace {

using Json = nlohmann::json;

bool IsAboveZero(const Json& json, const char* key) { return Number(json, key) > 0; }

// Finds rows of a run by name: runs have up to a million.
class RowIndex {
 public:
  explicit RowIndex(const std::vector<CaseRow>& rows) : rows_(rows) {
    for (size_t i = 0; i < rows.size(); ++i) places_[rows[i].name].push_back(i);
  }
  bool Has(const CaseRow& wanted) const {
    return Any(wanted, [&](const CaseRow& row) { return IsSameCase(row, wanted); });
  }
  // The case was looked at again, on inputs that are not those which were recorded for it.
  bool IsOnOtherInputs(const CaseRow& recorded) const {
    if (recorded.inputs != CaseRow::kRecorded) return false;
    CaseRow other = recorded;
    return Any(recorded, [&](const CaseRow& row) {
      other.inputs = row.inputs;
      return row.inputs != recorded.inputs && IsSameCase(row, other);
    });
  }

 private:
  template <typename Test>
  bool Any(const CaseRow& wanted, const Test& test) const {
    const auto at = places_.find(wanted.name);
    return at != places_.end() && std::any_of(at->second.begin(), at->second.end(),
                                              [&](size_t place) { return test(rows_[place]); });
  }

  const std::vector<CaseRow> rows_;
  std::unordered_map<std::string, std::vector<size_t>> places_;
};

// Counts the cases anew, for the figures above the table.
void CountAgain(RunRow& run) {
  Json summary = SummaryOf(run);
  std::map<std::string, int64_t> counts;
  for (const CaseRow& row : run.cases) ++counts[row.status];
  for (const char* status :
       {"passed", "failed", "inconclusive", "unsupported", "rejected", "crashed", "timed out"}) {
    if (counts[status] > 0 || summary.contains(status)) summary[status] = counts[status];
  }
  run.summary = summary.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The parts of one run differ in their command by the part, and by where they keep results.
std::string WithoutPlaces(std::string command) {
  for (const std::string option : {" --shard", " --db", " --out"}) {
    const size_t at = command.find(option);
    if (at == std::string::npos) continue;
    const size_t end = command.find(' ', at + option.size() + 1);
    command.erase(at, end == std::string::npos ? std::string::npos : end - at);
  }
  return command;
}

}  // namespace

bool IsWhole(const RunRow& run) {
  const Json summary = SummaryOf(run);
  if (!Word(summary, "shard").empty()) return false;
  if (run.verb != "conform") return true;
  return Word(summary, "filter").empty() && !IsAboveZero(summary, "not_run") &&
         run.command.find("--filter") == std::string::npos;
}

bool IsBad(const CaseRow& row) {
  for (const char* status : {"failed", "crashed", "timed out", "rejected"}) {
    if (row.status == status) return true;
  }
  return false;
}

std::string KindOf(const RunRow& run) {
  const Json json = SummaryOf(run);
  return StrCat(run.verb, "/", run.backend, "/", run.backend_version, "/", Word(json, "defect"),
                "/", Word(json, "suite"), "/", Word(json, "tier"), "/",
                run.verb == "check" ? WithoutPlaces(run.command) : "");
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
    const RowIndex before(rows);
    for (const CaseRow& row : run.cases) {
      if (before.Has(row)) continue;
      if (newer.is_whole && !(IsBad(row) && before.IsOnOtherInputs(row))) continue;
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
