// Runs the detector on series with planted changes and counts.
#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/str_format.h"
#include "bench/tracking/change_points.h"
#include "bench/tracking/proof/planted.h"
#include "bench/tracking/proof/proof.h"
#include "nlohmann/json.hpp"
#include "spec/base/strings.h"

namespace assay {
namespace {

using TextSource = std::function<absl::StatusOr<std::string>(const std::string&)>;

constexpr size_t kRules = std::size(kRuleNames);
constexpr size_t kInTime = 3;  // points

// One series, judged.
struct Verdict {
  bool exact_found = false;  // by a deterministic measure, at the point itself
  int64_t exact_false = 0;   // such alerts elsewhere
  std::set<std::string> exact_measures;
  bool is_named = false;
  std::string sentence;
  bool time_found[kRules] = {}, time_in_time[kRules] = {};
  double delay[kRules] = {};
  int64_t time_false[kRules] = {};
  double measured = 0;  // the step of the median ratios
};

std::string LastWordOf(const std::string& key) {
  return key.substr(key.find(' ') == std::string::npos ? 0 : key.find(' ') + 1);
}

// Only these measures of the first points.
Series Prefix(const Series& series, size_t count, bool only_ratio) {
  Series prefix(series.begin(), series.begin() + static_cast<std::ptrdiff_t>(count));
  for (PointRow& point : prefix) {
    std::erase_if(point.measures,
                  [&](const auto& one) { return (one.first == "ratio") != only_ratio; });
  }
  return prefix;
}

void JudgeExact(const PlantedChange& change, const TextSource& text, Verdict& verdict) {
  const Series series = Prefix(change.points, change.points.size(), false);
  for (const AlertGroup& group : Watch({series}, text).groups) {
    for (const Alert& alert : group.alerts) {
      if (alert.commit_after != series[change.at].commit) {
        ++verdict.exact_false;
        continue;
      }
      verdict.exact_found = true;
      verdict.exact_measures.insert(alert.measure);
    }
  }
  // The cause is told for the place, whichever measure alarms there.
  PointRow before = series[change.at - 1], after = series[change.at];
  const ChangeCause cause = CauseBetween(before, after, text);
  verdict.sentence = cause.sentence;
  verdict.is_named =
      change.causes.count(cause.key) > 0 || change.causes.count(LastWordOf(cause.key)) > 0;
}

void Note(size_t rule, size_t when, size_t where, size_t at, Verdict& verdict) {
  if (when < at || when > at + 12 || where + 3 < at) {
    ++verdict.time_false[rule];
  } else if (!verdict.time_found[rule]) {
    verdict.time_found[rule] = true;
    verdict.time_in_time[rule] = when <= at + kInTime;
    verdict.delay[rule] = static_cast<double>(when - at);
  }
}

void JudgeTime(const PlantedChange& change, const TextSource& text, Verdict& verdict) {
  std::vector<double> ratios;
  for (const PointRow& point : change.points) ratios.push_back(point.measures.at("ratio"));
  const auto alarms = AlarmsOfRules(ratios);
  for (size_t rule = 1; rule < kRules; ++rule) {
    for (const RuleAlarm& alarm : alarms[rule]) {
      Note(rule, alarm.when, alarm.where, change.at, verdict);
    }
  }
  // Ours knows the code besides.
  std::set<std::string> told;
  for (size_t count = 2 * kShortestLevel; count <= change.points.size(); ++count) {
    for (const AlertGroup& group : Watch({Prefix(change.points, count, true)}, text).groups) {
      if (!told.insert(group.commit_after).second) continue;
      size_t where = 0;
      while (change.points[where].commit != group.commit_after) ++where;
      Note(0, count - 1, where, change.at, verdict);
    }
  }
  auto median = [](std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  };
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(change.at);
  verdict.measured = median({middle, ratios.end()}) / median({ratios.begin(), middle}) - 1;
}

struct Sum {
  int64_t planted = 0, exact_found = 0, exact_false = 0, named = 0;
  int64_t found[kRules] = {}, in_time[kRules] = {}, false_alarms[kRules] = {};
  double delay[kRules] = {};
  std::vector<double> measured;
};

void AddTo(Sum& sum, const Verdict& verdict) {
  ++sum.planted;
  sum.exact_found += verdict.exact_found ? 1 : 0;
  sum.exact_false += verdict.exact_false;
  sum.named += verdict.is_named ? 1 : 0;
  sum.measured.push_back(verdict.measured);
  for (size_t rule = 0; rule < kRules; ++rule) {
    sum.found[rule] += verdict.time_found[rule] ? 1 : 0;
    sum.in_time[rule] += verdict.time_in_time[rule] ? 1 : 0;
    sum.delay[rule] += verdict.delay[rule];
    sum.false_alarms[rule] += verdict.time_false[rule];
  }
}

std::string RowOf(const std::string& name, const Sum& sum, bool has_time) {
  std::vector<double> sorted = sum.measured;
  std::sort(sorted.begin(), sorted.end());
  std::string row =
      absl::StrFormat("| %s | %d | %d | %d | %+.1f %% |", name, sum.planted, sum.exact_found,
                      sum.named, sorted.empty() ? 0 : 100 * sorted[sorted.size() / 2]);
  for (size_t rule = 0; rule < kRules; ++rule) {
    row += has_time
               ? absl::StrFormat(
                     " %d, %d%s |", sum.found[rule], sum.in_time[rule],
                     sum.found[rule] == 0
                         ? std::string()
                         : absl::StrFormat(" (%.1f)",
                                           sum.delay[rule] / static_cast<double>(sum.found[rule])))
               : std::string(" - |");
  }
  return row + "\n";
}

}  // namespace

std::string FlagsOf(const PlantedChange& change) {
  return nlohmann::json{{"planted", change.kind},  {"workload", change.workload},
                        {"name", change.name},     {"backend", change.backend},
                        {"causes", change.causes}, {"step", change.step},
                        {"at", change.at}}
      .dump();
}

std::vector<PlantedChange> PlantedIn(std::vector<PointRow> points) {
  std::vector<PlantedChange> changes;
  for (Series& series : SeriesOf(std::move(points))) {
    const nlohmann::json flags = nlohmann::json::parse(series[0].flags, nullptr, false);
    if (!flags.is_object() || !flags.contains("planted")) continue;
    PlantedChange change;
    change.kind = flags.value("planted", "");
    change.workload = flags.value("workload", "");
    change.name = flags.value("name", "");
    change.backend = flags.value("backend", "");
    change.step = flags.value("step", 0.0);
    change.at = flags.value("at", size_t{0});
    change.causes = flags.value("causes", std::set<std::string>());
    if (change.at == 0 || change.at >= series.size()) continue;
    change.points = std::move(series);
    changes.push_back(std::move(change));
  }
  return changes;
}

std::string PlantedTable(const std::vector<PlantedChange>& changes, const TextSource& text) {
  std::map<std::string, Sum> by_kind;
  std::map<std::string, bool> has_time;
  Sum all;
  int64_t points = 0;
  std::string list =
      "\n| workload | planted | measures that changed | named |\n| --- | --- | --- | --- |\n";
  for (const PlantedChange& change : changes) {
    Verdict verdict;
    JudgeExact(change, text, verdict);
    JudgeTime(change, text, verdict);
    AddTo(by_kind[change.kind], verdict);
    AddTo(all, verdict);
    has_time[change.kind] = change.step > 0;
    points += static_cast<int64_t>(change.points.size());
    std::string measures;
    for (const std::string& measure : verdict.exact_measures) {
      StrAppend(&measures, measures.empty() ? "" : ", ", measure);
    }
    StrAppend(&list, "| ", change.workload, " | ", change.kind, " ", change.name, " | ",
              measures.empty() ? "none" : measures, " | ", verdict.sentence,
              verdict.is_named ? "" : " (**wrong**)", " |\n");
  }
  std::string table =
      "| planted | series | found exactly, at once | cause named | ratio moved by |";
  for (const char* rule : kRuleNames) table += StrCat(" ", rule, " |");
  table += "\n| --- | ---: | ---: | ---: | ---: |";
  for (size_t rule = 0; rule < kRules; ++rule) table += " ---: |";
  table += "\n";
  for (const auto& [kind, sum] : by_kind) table += RowOf(kind, sum, has_time[kind]);
  table += RowOf("all", all, false);
  table += absl::StrFormat(
      "\n%d points; false alarms of exact measures: %d; of the ratio, per 1,000 points:", points,
      all.exact_false);
  for (size_t rule = 0; rule < kRules; ++rule) {
    table += absl::StrFormat("%s %s %.1f", rule == 0 ? "" : ",", kRuleNames[rule],
                             1000 * static_cast<double>(all.false_alarms[rule]) /
                                 static_cast<double>(std::max<int64_t>(1, points)));
  }
  return table + ".\n" + list;
}

}  // namespace assay
