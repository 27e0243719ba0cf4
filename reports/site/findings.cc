// Bugs, campaigns and causes are written for the site.
#include "reports/site/findings.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <system_error>

#include "nlohmann/json.hpp"
#include "reports/run_summary.h"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostListed = 100;          // runs and programs of one bug
constexpr int64_t kMostText = 256 << 10;     // bytes of a program on a page
constexpr int64_t kMostJournal = 256 << 20;  // bytes that are read of a campaign that goes on
constexpr size_t kMostCampaigns = 500;
constexpr size_t kMostFigures = 400;  // of the progress of one campaign

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The text of a small file; "" where it cannot be read.
std::string TextAt(const std::filesystem::path& path) {
  absl::StatusOr<std::string> text = ReadFile(path.string(), kMostText);
  return text.ok() ? *std::move(text) : "";
}

std::string RelativeTo(const std::string& folder, const std::string& path) {
  std::error_code error;
  const std::filesystem::path relative = std::filesystem::relative(path, folder, error);
  return error ? path : relative.generic_string();
}

// Figures of a campaign that are shown; the whole summary has lists of every rule.
Json FiguresOf(const Json& summary) {
  Json figures;
  for (const char* key : {"programs",
                          "compared",
                          "inconclusive",
                          "rescued",
                          "unsupported",
                          "findings",
                          "buckets",
                          "seconds",
                          "programs_per_second",
                          "cpu_ms_per_program",
                          "suspects",
                          "unconfirmed",
                          "refuted",
                          "avoided",
                          "workers_lost",
                          "interrupted",
                          "seed",
                          "jobs",
                          "defect",
                          "kinds",
                          "stages",
                          "known",
                          "error"}) {
    if (const auto at = summary.find(key); at != summary.end()) figures[key] = *at;
  }
  const auto rules = summary.find("rules");
  if (rules == summary.end() || !rules->is_object()) return figures;
  std::vector<std::pair<double, std::string>> most;
  for (const auto& [rule, count] : rules->items()) {
    if (count.is_number()) most.emplace_back(-count.get<double>(), rule);
  }
  std::sort(most.begin(), most.end());
  figures["rule_count"] = most.size();
  for (size_t i = 0; i < std::min<size_t>(most.size(), 16); ++i) {
    figures["rules"].push_back({most[i].second, -most[i].first});
  }
  return figures;
}

// The campaign that a journal tells of, as far as it got. Lines that make no sense are left out.
Json JournalJson(const std::string& path, const std::string& text) {
  Json campaign = {{"journal", path}, {"programs", 0}, {"ended", false}};
  Json progress = Json::array();
  int64_t findings = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) continue;
    const std::string type = Word(json, "type");
    if (type == "begin") {
      campaign = {{"journal", path},
                  {"programs", 0},
                  {"ended", false},
                  {"seed", Number(json, "seed")},
                  {"count", Number(json, "count")},
                  {"time_limit", Number(json, "time_limit")}};
      if (json.contains("backends")) campaign["backends"] = json["backends"];
      if (json.contains("versions")) campaign["versions"] = json["versions"];
      progress = Json::array();
      findings = 0;
    } else if (type == "finding") {
      ++findings;
    } else if (type == "progress") {
      campaign["programs"] = Number(json, "programs");
      progress.push_back({Number(json, "programs"), findings});
    } else if (type == "end") {
      campaign["ended"] = true;
      campaign["programs"] = Number(json, "programs");
      campaign["seconds"] = Number(json, "seconds");
      progress.push_back({Number(json, "programs"), findings});
    }
  }
  campaign["findings"] = findings;
  const size_t step = progress.size() / kMostFigures + 1;
  for (size_t i = 0; i < progress.size(); ++i) {
    if (i % step == 0 || i + 1 == progress.size()) campaign["progress"].push_back(progress[i]);
  }
  return campaign;
}

}  // namespace

void SiteBugs::Take(const RunRow& run) {
  std::set<std::string> seen;
  for (const FindingRow& finding : run.findings) {
    const auto [at, is_new] = bugs_.try_emplace(finding.fingerprint);
    Bug& bug = at->second;
    if (is_new) {
      order_.push_back(finding.fingerprint);
      bug.shown = finding;
      bug.shown_run = run.id;
      bug.backend = run.backend;
      bug.version = run.backend_version;
      bug.last_ms = run.started_ms;
    }
    const bool is_better = bug.shown.page.empty() && !finding.page.empty();
    if (is_better) bug.shown = finding;
    ++bug.findings;
    bug.first_ms = run.started_ms;
    if (seen.insert(finding.fingerprint).second && bug.runs.size() < kMostListed)
      bug.runs.push_back(run.id);
    if (bug.cases.size() < kMostListed) bug.cases.push_back(finding.case_index);
  }
}

absl::Status SiteBugs::Write(DataFiles& files) const {
  Json list = Json::array();
  for (size_t i = 0; i < order_.size(); ++i) {
    const Bug& bug = bugs_.at(order_[i]);
    Json one = {{"id", i},
                {"bucket", order_[i]},
                {"title", bug.shown.title},
                {"kind", bug.shown.kind},
                {"rule", bug.shown.rule},
                {"backend", bug.backend},
                {"version", bug.version},
                {"instructions", bug.shown.instructions},
                {"findings", bug.findings},
                {"runs", bug.runs},
                {"first_ms", bug.first_ms},
                {"last_ms", bug.last_ms}};
    list.push_back(one);
    one["cases"] = bug.cases;
    if (!bug.shown.page.empty()) {
      const std::filesystem::path page(bug.shown.page);
      one["folder"] = bug.shown.page;
      one["program"] = TextAt(page / "repro.hlo");
      std::error_code ignored;
      for (const char* name : {"bug.html", "README.md", "finding.json"}) {
        if (std::filesystem::exists(page / name, ignored))
          one["links"].push_back({name, RelativeTo(folder_, (page / name).string())});
      }
    }
    ASSAY_RETURN_IF_ERROR(files.Give(StrCat("bug-", i), Dump(one)));
  }
  return files.Give("bugs", Dump(list));
}

absl::Status WriteCampaigns(const std::vector<RunRow>& runs,
                            const std::vector<std::string>& journals, DataFiles& files) {
  Json list = Json::array(), going = Json::array();
  for (const RunRow& run : runs) {
    if (run.verb != "fuzz" || list.size() >= kMostCampaigns) continue;
    std::set<std::string> buckets;
    for (const FindingRow& finding : run.findings) buckets.insert(finding.fingerprint);
    list.push_back({{"run", run.id}, {"figures", FiguresOf(SummaryOf(run))}, {"buckets", buckets}});
  }
  for (const std::string& path : journals) {
    absl::StatusOr<std::string> text = ReadFile(path, kMostJournal);
    if (!text.ok()) continue;  // the campaign has not begun, or its folder was cleared
    going.push_back(JournalJson(path, *text));
  }
  return files.Give("campaigns", Dump({{"runs", list}, {"journals", going}}));
}

absl::Status WriteCauses(const std::vector<std::string>& causes, DataFiles& files) {
  Json list = Json::array();
  for (const std::string& text : causes) {
    Json cause = Json::parse(text, nullptr, false);
    if (!cause.is_object()) continue;
    const size_t id = list.size();
    cause["id"] = id;
    list.push_back({{"id", id},
                    {"name", Word(cause, "name")},
                    {"title", Word(cause, "title")},
                    {"severity", Word(cause, "severity")},
                    {"component", Word(cause, "component")},
                    {"status", Word(cause, "status")}});
    ASSAY_RETURN_IF_ERROR(files.Give(StrCat("cause-", id), Dump(cause)));
  }
  return files.Give("causes", Dump(list));
}

}  // namespace assay
