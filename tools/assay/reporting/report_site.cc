// Gathers what the site shows beside the rows of the store.
#include "tools/assay/reporting/report_site.h"

#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "bench/tracking/change_points.h"
#include "bench/tracking/watch.h"
#include "conformance/known/ledger.h"
#include "nlohmann/json.hpp"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "tools/assay/json_line.h"

namespace assay {
namespace {

SiteChange ChangeOf(const Alert& alert, bool is_machine) {
  SiteChange change;
  change.measure = alert.measure;
  change.before = alert.before;
  change.after = alert.after;
  change.is_worse = alert.is_worse;
  change.is_exact = alert.is_exact;
  change.is_machine = is_machine;
  change.commit_before = alert.commit_before;
  change.commit_after = alert.commit_after;
  change.point_after = alert.point_after;
  change.cause = alert.cause.sentence;
  return change;
}

// The spread of one point of each measure that is a time; others are the same in every run.
std::map<std::string, double> NoiseIn(const Series& series) {
  std::map<std::string, std::vector<double>> logarithms;
  for (const PointRow& point : series) {
    for (const auto& [name, value] : point.measures) {
      const bool is_time =
          name == "ratio" || name == "run_seconds" || name.rfind("compile", 0) == 0;
      if (is_time && value > 0) logarithms[name].push_back(std::log(value));
    }
  }
  std::map<std::string, double> noise;
  for (const auto& [name, values] : logarithms) {
    if (values.size() > kShortestLevel) noise[name] = NoiseOf(values);
  }
  return noise;
}

absl::StatusOr<std::vector<SiteSeries>> SeriesIn(Store& store) {
  ASSAY_ASSIGN_OR_RETURN(std::vector<PointRow> points, store.Points());
  std::vector<SiteSeries> all;
  for (Series& series : SeriesOf(std::move(points))) {
    const Watched watched =
        Watch({series}, [&](const std::string& hash) { return store.Text(hash); });
    SiteSeries one;
    for (const AlertGroup& group : watched.groups) {
      for (const Alert& alert : group.alerts) one.changes.push_back(ChangeOf(alert, false));
    }
    for (const Alert& alert : watched.machine) one.changes.push_back(ChangeOf(alert, true));
    one.noise = NoiseIn(series);
    one.points = std::move(series);
    all.push_back(std::move(one));
  }
  return all;
}

absl::Status AddLedger(const std::string& folder, std::vector<std::string>& causes) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Cause> ledger, ReadLedger(folder));
  for (const Cause& cause : ledger) {
    nlohmann::json json = nlohmann::json::parse(LedgerJson({cause}), nullptr, false);
    const std::string program = (std::filesystem::path(cause.folder) / "program.hlo").string();
    absl::StatusOr<std::string> text = ReadFile(program, 256 << 10);
    if (text.ok()) json["program"] = *text;
    json["command"] = StrCat("assay check ", program, " --backend xla --profile ", cause.profile);
    causes.push_back(JsonText(json));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SiteTotals> WriteSiteOf(Store& store, const SiteRequest& request) {
  SiteOptions options;
  options.folder = request.folder;
  options.runs = request.runs;
  ASSAY_ASSIGN_OR_RETURN(options.series, SeriesIn(store));
  for (const std::string& folder : request.ledgers) {
    ASSAY_RETURN_IF_ERROR(AddLedger(folder, options.causes));
  }
  for (const std::string& folder : request.campaigns)
    options.journals.push_back((std::filesystem::path(folder) / "results.jsonl").string());
  return WriteSite(store, options);
}

}  // namespace assay
