// Points of series with their measures in columns.
#include "reports/site/series.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "nlohmann/json.hpp"
#include "reports/run_summary.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

using Json = nlohmann::json;

// So many points of a series are shown: a point has about forty measures, of some ten digits each.
constexpr size_t kMostPoints = 2000;

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json ChangeJson(const SiteChange& change) {
  return {{"measure", change.measure},
          {"before", change.before},
          {"after", change.after},
          {"worse", change.is_worse},
          {"exact", change.is_exact},
          {"machine", change.is_machine},
          {"commit_before", change.commit_before},
          {"commit", change.commit_after},
          {"point", change.point_after},
          {"cause", change.cause}};
}

// The points, measures as columns in which null stands for a measure that a point lacks.
Json SeriesJson(const SiteSeries& series) {
  const size_t first = series.points.size() - std::min(series.points.size(), kMostPoints);
  const std::vector<PointRow> points(series.points.begin() + static_cast<std::ptrdiff_t>(first),
                                     series.points.end());
  Json json = {{"left_out", first}, {"noise", series.noise}, {"measures", Json::object()}};
  std::set<std::string> names;
  for (const PointRow& point : points) {
    json["points"].push_back({point.id, point.taken_ms, point.commit, point.version});
    const auto code = point.hashes.find("code");
    json["code"].push_back(code == point.hashes.end() ? "" : code->second.substr(0, 8));
    for (const auto& [name, value] : point.measures) names.insert(name);
  }
  for (const std::string& name : names) {
    Json column = Json::array();
    for (const PointRow& point : points) {
      const auto at = point.measures.find(name);
      const bool is_there = at != point.measures.end() && std::isfinite(at->second);
      column.push_back(is_there ? Json(at->second) : Json());
    }
    json["measures"][name] = std::move(column);
  }
  json["changes"] = Json::array();
  for (const SiteChange& change : series.changes) json["changes"].push_back(ChangeJson(change));
  return json;
}

}  // namespace

absl::Status WriteSeries(const std::vector<SiteSeries>& series, DataFiles& files) {
  Json list = Json::array();
  for (const SiteSeries& one : series) {
    if (one.points.empty()) continue;
    const PointRow& last = one.points.back();
    Json ratios = Json::array();
    const size_t shown = std::min<size_t>(one.points.size(), 60);
    for (size_t i = one.points.size() - shown; i < one.points.size(); ++i) {
      const auto at = one.points[i].measures.find("ratio");
      if (at != one.points[i].measures.end()) ratios.push_back(at->second);
    }
    Json json = {{"id", list.size()},           {"workload", last.workload},
                 {"subject", last.subject},     {"machine", last.machine},
                 {"flags", last.flags},         {"reference", last.reference.substr(0, 8)},
                 {"points", one.points.size()}, {"last_ms", last.taken_ms},
                 {"commit", last.commit},       {"ratios", ratios}};
    json["changes"] = Json::array();
    for (const SiteChange& change : one.changes) json["changes"].push_back(ChangeJson(change));
    ASSAY_RETURN_IF_ERROR(files.Give(StrCat("series-", list.size()), Dump(SeriesJson(one))));
    list.push_back(std::move(json));
  }
  return files.Give("performance", Dump(list));
}

absl::Status WriteSpeed(const std::vector<RunRow>& runs, DataFiles& files) {
  constexpr size_t kMostRuns = 50;
  Json list = Json::array();
  for (const RunRow& run : runs) {
    if (run.benchmarks.empty() || list.size() >= kMostRuns) continue;
    Json rows = Json::array();
    for (const BenchmarkRow& row : run.benchmarks) {
      if (rows.size() > 3000) break;
      rows.push_back(
          {row.name, row.metric, row.subject, row.value, row.lower, row.upper, row.samples});
    }
    list.push_back({{"run", run.id}, {"rows", std::move(rows)}});
    // The file would grow beyond its limit.
    if (Dump(list).size() > static_cast<size_t>(kMostSiteBytes) * 3 / 4) {
      if (list.size() > 1) list.erase(list.size() - 1);
      break;
    }
  }
  return files.Give("speed", Dump(list));
}

}  // namespace assay
