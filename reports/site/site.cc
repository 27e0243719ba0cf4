// The order in which the site is written, and its index.
#include "reports/site/site.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <unordered_set>

#include "nlohmann/json.hpp"
#include "reports/headline.h"
#include "reports/latest.h"
#include "reports/page/html.h"
#include "reports/run_summary.h"
#include "reports/site/accuracy.h"
#include "reports/site/data_file.h"
#include "reports/site/dataset.h"
#include "reports/site/findings.h"
#include "reports/site/series.h"
#include "reports/site/site_files.h"
#include "reports/version.h"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostRuns = 4000;        // so that the index fits into its file
constexpr size_t kMostCommandText = 240;  // bytes of a command line in the index

Json RunJson(const RunRow& run, const std::string& kind) {
  const Json summary = SummaryOf(run);
  Json json = {{"id", run.id},
               {"kind", kind},
               {"verb", run.verb},
               {"backend", run.backend},
               {"version", run.backend_version},
               {"command", run.command.substr(0, kMostCommandText)},
               {"ms", run.started_ms},
               {"seconds", run.seconds},
               {"machine", run.machine},
               {"assay", run.version},
               {"commit", run.commit},
               {"findings", run.findings.size()},
               {"benchmarks", run.benchmarks.size()},
               {"cases", run.cases.size()}};
  for (const char* key : {"suite", "tier", "shard", "filter", "profile", "defect"}) {
    if (const std::string word = Word(summary, key); !word.empty()) json[key] = word;
  }
  if (run.verb == "fuzz") json["programs"] = Number(summary, "programs");
  std::map<std::string, int64_t> counts;
  for (const CaseRow& row : run.cases) ++counts[row.status];
  json["counts"] = counts;
  return json;
}

// The kinds of runs with what is known of each; kinds that have results are written as data sets.
class Kinds {
 public:
  // The number of the run's kind. Runs come newest first; a run is kept while it may still add to
  // what is known.
  size_t Take(const RunRow& run) {
    const auto [at, is_new] = numbers_.emplace(KindOf(run), kinds_.size());
    if (is_new) kinds_.emplace_back();
    Kind& kind = kinds_[at->second];
    kind.runs.push_back(run.id);
    if (run.cases.empty()) return at->second;
    if (!kind.is_whole) {
      kind.parts.push_back(run);
    } else if (run.verb == "check") {
      // Only failures of earlier runs may still count (latest.h).
      RunRow bad = run;
      std::erase_if(bad.cases, [](const CaseRow& row) { return !IsBad(row); });
      if (!bad.cases.empty()) kind.parts.push_back(std::move(bad));
    }
    kind.is_whole = kind.is_whole || IsWhole(run);
    return at->second;
  }

  // Writes a data set per kind where several runs have a part in it; else the run's own serves. The
  // newest state of all kinds goes to `latest`.
  absl::Status Write(DataFiles& files, Json& json, std::vector<RunRow>& latest) {
    for (size_t i = 0; i < kinds_.size(); ++i) {
      Kind& kind = kinds_[i];
      Json one = {{"runs", kind.runs}};
      if (!kind.parts.empty()) {
        std::vector<RunRow> known =
            kind.parts.size() == 1 ? std::move(kind.parts) : LatestOfEachKind(kind.parts);
        std::map<std::string, int64_t> counts;
        for (const CaseRow& row : known.front().cases) ++counts[row.status];
        one["counts"] = counts;
        one["data"] = StrCat("run-", known.front().id);
        if (kind.parts.size() > 1) {
          one["data"] = StrCat("kind-", i);
          ASSAY_RETURN_IF_ERROR(WriteDataset(StrCat("kind-", i), known.front(), files));
        }
        kind.parts.clear();
        std::erase_if(known.front().cases, [](const CaseRow& row) { return !IsBad(row); });
        latest.push_back(std::move(known.front()));
      }
      json.push_back(std::move(one));
    }
    return absl::OkStatus();
  }

 private:
  struct Kind {
    std::vector<int64_t> runs;
    std::vector<RunRow> parts;
    bool is_whole = false;
  };
  std::map<std::string, size_t> numbers_;
  std::vector<Kind> kinds_;
};

// Leaves the rows of cases that fail in this run or in a newer one: they tell since when.
void KeepFailing(RunRow& run, std::unordered_set<std::string>& failing) {
  for (const CaseRow& row : run.cases) {
    if (IsBad(row)) failing.insert(row.name);
  }
  std::vector<CaseRow> kept;
  for (CaseRow& row : run.cases) {
    if (failing.count(row.name) > 0) kept.push_back(std::move(row));
  }
  run.cases = std::move(kept);
}

int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

absl::Status WriteAssets(const SiteOptions& options) {
  for (const Embedded& file : SiteFiles()) {
    std::string text(file.content);
    if (file.name == "site.css") text = StrCat(StyleSheet(), text);
    ASSAY_RETURN_IF_ERROR(WriteFile(StrCat(options.folder, "/", file.name), text));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SiteTotals> WriteSite(Store& store, const SiteOptions& options) {
  DataFiles files(options.folder);
  ASSAY_RETURN_IF_ERROR(MakeFolder(options.folder));
  ASSAY_RETURN_IF_ERROR(files.Begin());
  const int64_t most = std::min<int64_t>(options.runs, kMostRuns);
  ASSAY_ASSIGN_OR_RETURN(std::vector<RunRow> runs, store.Headers(most));
  SiteTotals totals;
  Kinds kinds;
  SiteBugs bugs(options.folder);
  std::unordered_set<std::string> failing;
  Json index = {{"title", options.title},
                {"made_ms", NowMs()},
                {"assay", std::string(kAssayVersion)},
                {"commit", std::string(kAssayCommit)},
                {"statuses", SiteStatuses()},
                {"runs", Json::array()},
                {"kinds", Json::array()}};
  for (RunRow& run : runs) {
    ASSAY_RETURN_IF_ERROR(store.Fill(run));
    const size_t kind = kinds.Take(run);
    index["runs"].push_back(RunJson(run, StrCat(kind)));
    bugs.Take(run);
    if (!run.cases.empty()) {
      ASSAY_RETURN_IF_ERROR(WriteDataset(StrCat("run-", run.id), run, files));
    }
    totals.results += static_cast<int64_t>(run.cases.size());
    KeepFailing(run, failing);
  }
  totals.runs = static_cast<int64_t>(runs.size());
  std::vector<RunRow> latest;
  ASSAY_RETURN_IF_ERROR(kinds.Write(files, index["kinds"], latest));
  for (const RunRow& run : LatestOfEachKind(runs)) {
    if (run.verb != "check" && run.verb != "conform") latest.push_back(run);
  }
  std::stable_sort(latest.begin(), latest.end(),
                   [](const RunRow& x, const RunRow& y) { return x.id < y.id; });
  index["headline"] = Headline(latest, runs);
  ASSAY_RETURN_IF_ERROR(bugs.Write(files));
  ASSAY_RETURN_IF_ERROR(WriteCampaigns(runs, options.journals, files));
  ASSAY_RETURN_IF_ERROR(WriteCauses(options.causes, files));
  ASSAY_RETURN_IF_ERROR(WriteSeries(options.series, files));
  ASSAY_RETURN_IF_ERROR(WriteSpeed(runs, files));
  ASSAY_RETURN_IF_ERROR(WriteUlps(runs, files));
  ASSAY_RETURN_IF_ERROR(
      files.Give("index", index.dump(-1, ' ', false, Json::error_handler_t::replace)));
  ASSAY_RETURN_IF_ERROR(WriteAssets(options));
  files.Finish();
  totals.files = files.files();
  totals.bytes = files.bytes();
  totals.largest = files.largest();
  return totals;
}

}  // namespace assay
