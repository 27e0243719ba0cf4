// Finds the cases of one run in the other.
#include "reports/forms/run_diff.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_replace.h"
#include "nlohmann/json.hpp"
#include "reports/latest.h"
#include "reports/numbers.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

using Json = nlohmann::json;
using Key = std::tuple<std::string, std::string, std::string>;

bool IsBadWord(const std::string& status) {
  CaseRow row;
  row.status = status;
  return IsBad(row);
}

std::map<Key, const CaseRow*> ByKey(const RunRow& run, bool is_same_backend) {
  std::map<Key, const CaseRow*> cases;
  for (const CaseRow& row : run.cases) {
    const bool is_other = !is_same_backend && row.subject == run.backend;
    cases[{row.name, is_other ? "" : row.subject, row.inputs}] = &row;
  }
  return cases;
}

std::string FirstLine(const std::string& text) {
  return text.substr(0, std::min<size_t>(text.find('\n'), 160));
}

std::string WhichRun(const RunRow& run) {
  return StrCat("run ", run.id, ": ", run.verb, " ", run.backend,
                run.backend_version.empty() ? "" : StrCat(", ", run.backend_version), ", ",
                UtcTime(run.started_ms), ", ", run.commit);
}

Json RunAsJson(const RunRow& run) {
  return {{"id", run.id},
          {"verb", run.verb},
          {"backend", run.backend},
          {"backend_version", run.backend_version},
          {"command", run.command},
          {"commit", run.commit},
          {"cases", run.cases.size()}};
}

std::string Cell(const std::string& text) {
  return absl::StrReplaceAll(text, {{"|", "\\|"}, {"\n", " "}, {"<", "&lt;"}, {"`", "'"}});
}

}  // namespace

bool VerdictChange::IsWorse() const { return IsBadWord(after) && !IsBadWord(before); }
bool VerdictChange::IsBetter() const {
  return IsBadWord(before) && !IsBadWord(after) && after != RunDiff::kAbsent;
}

RunDiff DiffRuns(const RunRow& before, const RunRow& after) {
  const bool is_same_backend = before.backend == after.backend;
  const auto old_cases = ByKey(before, is_same_backend), new_cases = ByKey(after, is_same_backend);
  RunDiff diff;
  const auto add = [&diff](const CaseRow* old_case, const CaseRow* new_case) {
    VerdictChange change;
    const CaseRow& shown = new_case != nullptr ? *new_case : *old_case;
    change.name = shown.name;
    change.subject = shown.subject;
    change.before = old_case == nullptr ? RunDiff::kAbsent : old_case->status;
    change.after = new_case == nullptr ? RunDiff::kAbsent : new_case->status;
    if (change.before == change.after) {
      ++diff.equal;
      return;
    }
    const bool is_old_told = old_case != nullptr && change.IsBetter();
    change.detail = is_old_told ? old_case->detail : shown.detail;
    ++diff.moves[{change.before, change.after}];
    diff.worse += change.IsWorse() ? 1 : 0;
    diff.better += change.IsBetter() ? 1 : 0;
    diff.changes.push_back(std::move(change));
  };
  for (const auto& [key, row] : old_cases) {
    const auto at = new_cases.find(key);
    add(row, at == new_cases.end() ? nullptr : at->second);
  }
  for (const auto& [key, row] : new_cases) {
    if (old_cases.count(key) == 0) add(nullptr, row);
  }
  const auto rank = [](const VerdictChange& change) {
    return change.IsWorse() ? 0 : change.IsBetter() ? 1 : 2;
  };
  std::stable_sort(
      diff.changes.begin(), diff.changes.end(),
      [&](const VerdictChange& x, const VerdictChange& y) { return rank(x) < rank(y); });
  return diff;
}

std::string DiffText(const RunRow& before, const RunRow& after, const RunDiff& diff, size_t most) {
  std::string text = StrCat("A  ", WhichRun(before), "\nB  ", WhichRun(after), "\n");
  for (const auto& [move, count] : diff.moves)
    StrAppend(&text, "  ", Grouped(count), " from ", move.first, " to ", move.second, "\n");
  for (size_t i = 0; i < std::min(most, diff.changes.size()); ++i) {
    const VerdictChange& change = diff.changes[i];
    StrAppend(&text,
              change.IsWorse()    ? "worse   "
              : change.IsBetter() ? "better  "
                                  : "other   ",
              change.name, change.subject.empty() ? "" : StrCat(" (", change.subject, ")"), ": ",
              change.before, " to ", change.after,
              change.detail.empty() ? "" : StrCat(": ", FirstLine(change.detail)), "\n");
  }
  if (diff.changes.size() > most)
    StrAppend(&text, Grouped(static_cast<int64_t>(diff.changes.size() - most)), " more\n");
  return StrCat(text, Grouped(diff.worse), " worse, ", Grouped(diff.better), " better, ",
                Grouped(static_cast<int64_t>(diff.changes.size()) - diff.worse - diff.better),
                " other changes, ", Grouped(diff.equal), " the same");
}

std::string DiffMarkdown(const RunRow& before, const RunRow& after, const RunDiff& diff,
                         size_t most) {
  std::string text =
      StrCat("## Verdicts of two runs\n\n- A: ", Cell(WhichRun(before)),
             "\n- B: ", Cell(WhichRun(after)), "\n\n**", Grouped(diff.worse), " worse**, ",
             Grouped(diff.better), " better, ", Grouped(diff.equal), " the same.\n");
  if (diff.changes.empty()) return text;
  text += "\n| A | B | cases |\n| --- | --- | ---: |\n";
  for (const auto& [move, count] : diff.moves)
    StrAppend(&text, "| ", move.first, " | ", move.second, " | ", Grouped(count), " |\n");
  text += "\n| case | A | B | why |\n| --- | --- | --- | --- |\n";
  for (size_t i = 0; i < std::min(most, diff.changes.size()); ++i) {
    const VerdictChange& change = diff.changes[i];
    StrAppend(&text, "| ", Cell(change.name), " | ", change.before, " | ", change.after, " | ",
              Cell(FirstLine(change.detail)), " |\n");
  }
  if (diff.changes.size() > most)
    StrAppend(&text, "\n", Grouped(static_cast<int64_t>(diff.changes.size() - most)), " more.\n");
  return text;
}

std::string DiffJson(const RunRow& before, const RunRow& after, const RunDiff& diff) {
  Json json = {{"a", RunAsJson(before)},  {"b", RunAsJson(after)}, {"same", diff.equal},
               {"worse", diff.worse},     {"better", diff.better}, {"moves", Json::array()},
               {"changes", Json::array()}};
  for (const auto& [move, count] : diff.moves)
    json["moves"].push_back({{"before", move.first}, {"after", move.second}, {"cases", count}});
  for (const VerdictChange& change : diff.changes) {
    json["changes"].push_back({{"name", change.name},
                               {"subject", change.subject},
                               {"before", change.before},
                               {"after", change.after},
                               {"detail", change.detail}});
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace assay
