// The sections of the page, in the order in which they are read.
#include "reports/page/page.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <system_error>

#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "reports/case_name.h"
#include "reports/headline.h"
#include "reports/latest.h"
#include "reports/numbers.h"
#include "reports/page/charts.h"
#include "reports/page/html.h"
#include "reports/run_summary.h"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

using Json = nlohmann::json;

int64_t Whole(const Json& json, const char* key) { return std::llround(Number(json, key)); }

// "xla, XLA:CPU of jaxlib 0.10.2": each release has a card of its own.
std::string WhoOf(const RunRow& run) {
  return StrCat(run.backend, run.backend_version.empty() ? "" : ", ", run.backend_version);
}

std::string Caption(const RunRow& run) {
  return StrCat("<p class=\"soft\"><code>", EscapeHtml(run.command), "</code><br>",
                UtcTime(run.started_ms), ", ", Seconds(run.seconds), "</p>");
}

// "12 passed  1 failed", best first, each in the colour of its word.
std::string CountBadges(const std::map<std::string, int64_t>& counts) {
  std::string html;
  for (const char* status : {"passed", "inconclusive", "nothing to judge", "unsupported", "failed",
                             "crashed", "unreadable"}) {
    auto at = counts.find(status);
    if (at == counts.end()) continue;
    std::string badge = StatusBadge(status);
    badge.insert(badge.find('>') + 1, StrCat(at->second, " "));
    StrAppend(&html, html.empty() ? "" : " ", badge);
  }
  return html;
}

struct FamilySums {
  std::set<std::string> names;
  std::map<std::string, std::map<std::string, int64_t>> by_subject;  // subject -> status -> count
  int64_t elements = 0, forced = 0;
  double bound_used = 0;
};

std::string VerdictTable(const RunRow& run, const std::vector<std::string>& subjects) {
  std::map<std::string, FamilySums> families;
  for (const CaseRow& row : run.cases) {
    FamilySums& family = families[std::string(FamilyOfCase(row.name))];
    family.names.insert(row.name);
    // A case that ended before a subject was judged counts for the backend.
    ++family.by_subject[row.subject.empty() ? subjects.front() : row.subject][row.status];
    if (row.subject == "stored") continue;
    family.elements += row.elements;
    family.forced += row.forced;
    family.bound_used = std::max(family.bound_used, row.bound_used);
  }
  bool goldens = run.verb == "conform";  // judged without bounds
  std::vector<HtmlColumn> columns = {{goldens ? "suite" : "family"},
                                     {goldens ? "goldens" : "modules", true}};
  for (const std::string& subject : subjects) columns.push_back({subject});
  columns.push_back({"elements", true});
  if (!goldens) columns.insert(columns.end(), {{"one right answer", true}, {"bound used", true}});
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, family] : families) {
    std::vector<std::string> cells = {EscapeHtml(name),
                                      Grouped(static_cast<int64_t>(family.names.size()))};
    for (const std::string& subject : subjects) {
      auto at = family.by_subject.find(subject);
      cells.push_back(at == family.by_subject.end() ? "" : CountBadges(at->second));
    }
    cells.push_back(Grouped(family.elements));
    if (!goldens) {
      cells.push_back(
          Percent(static_cast<double>(family.forced), static_cast<double>(family.elements)));
      cells.push_back(family.bound_used > 0 ? absl::StrFormat("%.0f %%", 100 * family.bound_used)
                                            : "–");
    }
    rows.push_back(std::move(cells));
  }
  return HtmlTable(columns, rows);
}

// Lists subjects that did not pass: each failure by itself, the rest in one line per status.
// Subjects that share name and reason share a line.
std::string Problems(const RunRow& run) {
  std::map<std::string, std::map<std::string, std::string>> by_status;  // status, case, reasons
  for (const CaseRow& row : run.cases) {
    if (row.status == "passed") continue;
    std::string& text = by_status[row.status][row.name];
    if (!text.empty() && text.find(row.detail) != std::string::npos) continue;
    StrAppend(&text, row.subject.empty() ? "" : row.subject + ": ", row.detail, "\n");
  }
  std::string html;
  for (const char* status : {"crashed", "failed", "unreadable"}) {
    for (const auto& [name, text] : by_status[status]) {
      StrAppend(&html, "<details><summary>", EscapeHtml(name), " ", StatusBadge(status),
                "</summary><pre>", EscapeHtml(text), "</pre></details>\n");
    }
  }
  for (const char* status : {"nothing to judge", "unsupported", "inconclusive"}) {
    if (by_status[status].empty()) continue;
    StrAppend(&html, "<details><summary>", by_status[status].size(), " ", status,
              "</summary><pre>");
    for (const auto& [name, text] : by_status[status]) {
      StrAppend(&html, EscapeHtml(name), "\n    ", EscapeHtml(text));
    }
    html += "</pre></details>\n";
  }
  return html;
}

std::string StatusTiles(const Json& summary) {
  constexpr std::pair<const char*, const char*> kTones[] = {
      {"passed", "good"},          {"failed", "bad"},  {"inconclusive", "mild"},
      {"unsupported", "mild"},     {"crashed", "bad"}, {"unreadable", "bad"},
      {"nothing to judge", "mild"}};
  // Tiles that are there only when there is something to count.
  constexpr std::string_view kRare[] = {"unreadable", "nothing to judge"};
  std::string html = "<div class=\"tiles\">";
  for (const auto& [status, tone] : kTones) {
    int64_t count = Whole(summary, status);
    const bool is_rare = std::find(std::begin(kRare), std::end(kRare), status) != std::end(kRare);
    if (count == 0 && is_rare) continue;
    html += Tile(Grouped(count), status, count > 0 ? tone : "");
  }
  return html + "</div>";
}

std::string CheckCard(const RunRow& run) {
  Json summary = SummaryOf(run);
  std::set<std::string> seen;
  for (const CaseRow& row : run.cases) seen.insert(row.subject);
  std::vector<std::string> subjects = {run.backend};
  if (seen.count("stored") > 0) subjects.push_back("stored");
  return StrCat("<div class=\"card\"><h3>", EscapeHtml(WhoOf(run)), " on ",
                run.verb == "conform" ? "the documents' golden values" : "real modules", "</h3>",
                Caption(run), StatusTiles(summary), VerdictTable(run, subjects), Problems(run),
                "</div>\n");
}

std::string PageLink(const std::string& page, const std::string& folder, std::string_view text) {
  if (page.empty()) return EscapeHtml(text);
  std::error_code error;
  std::filesystem::path target = std::filesystem::absolute(page, error) / "bug.html";
  std::filesystem::path base = std::filesystem::absolute(folder, error);
  std::string relative = target.lexically_normal().lexically_relative(base.lexically_normal());
  if (relative.empty()) relative = target.string();
  return StrCat("<a href=\"", Href(relative), "\">", EscapeHtml(text), "</a>");
}

std::string FindingsTable(const RunRow& run, const std::string& folder) {
  if (run.findings.empty()) return "";
  struct Bucket {
    FindingRow row;
    int64_t count = 0;
  };
  std::vector<std::string> order;
  std::map<std::string, Bucket> buckets;
  for (const FindingRow& row : run.findings) {
    Bucket& bucket = buckets[row.fingerprint];
    if (bucket.count++ == 0) {
      bucket.row = row;
      order.push_back(row.fingerprint);
    }
  }
  std::vector<std::vector<std::string>> rows;
  for (const std::string& fingerprint : order) {
    const Bucket& bucket = buckets[fingerprint];
    rows.push_back(
        {PageLink(bucket.row.page, folder, bucket.row.title), EscapeHtml(bucket.row.kind),
         bucket.row.rule.empty() ? "–" : "<code>" + EscapeHtml(bucket.row.rule) + "</code>",
         Grouped(bucket.row.instructions), Grouped(bucket.count)});
  }
  return HtmlTable({{"bug"}, {"kind"}, {"blamed decision"}, {"instructions", true}, {"seen", true}},
                   rows);
}

std::vector<std::pair<std::string, double>> Pairs(const Json& json, const char* key) {
  std::vector<std::pair<std::string, double>> pairs;
  auto at = json.find(key);
  if (at == json.end() || !at->is_object()) return pairs;
  for (const auto& [name, value] : at->items()) {
    if (value.is_number()) pairs.emplace_back(name, value.get<double>());
  }
  return pairs;
}

// The stages of a case in the order in which it goes through them; JSON objects are sorted by name.
std::vector<std::pair<std::string, double>> Stages(const Json& summary) {
  std::vector<std::pair<std::string, double>> all = Pairs(summary, "stages"), ordered;
  for (const char* name : {"generate", "oracle", "passes", "code", "run", "judge"}) {
    auto at = std::find_if(all.begin(), all.end(), [&](const auto& p) { return p.first == name; });
    if (at == all.end()) continue;
    ordered.push_back(*at);
    all.erase(at);
  }
  ordered.insert(ordered.end(), all.begin(), all.end());
  return ordered;
}

std::string RulesFired(const Json& summary) {
  std::vector<std::pair<std::string, double>> rules = Pairs(summary, "rules");
  if (rules.empty()) return "";
  std::stable_sort(rules.begin(), rules.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  size_t all = rules.size();
  if (rules.size() > 16) rules.resize(16);
  return StrCat("<details><summary>", all, " kinds of compiler decisions were taken; the ",
                rules.size(), " most frequent</summary>", BarList(rules), "</details>");
}

std::string FuzzCard(const RunRow& run, const std::string& folder) {
  Json summary = SummaryOf(run);
  std::string defect = Word(summary, "defect");
  double programs = Number(summary, "programs"), seconds = Number(summary, "seconds");
  int64_t findings = Whole(summary, "findings");
  bool planted = !defect.empty();
  // A planted defect is there to be found; without one every finding is a bug.
  std::string_view tone = planted == (findings > 0) ? "good" : "bad";
  std::string html =
      StrCat("<div class=\"card\"><h3>", EscapeHtml(WhoOf(run)),
             planted ? " with the planted defect <code>" : "", planted ? EscapeHtml(defect) : "",
             planted ? "</code>" : "", "</h3>", Caption(run), "<div class=\"tiles\">");
  html += Tile(Grouped(Whole(summary, "programs")), "programs");
  html += Tile(seconds > 0 ? absl::StrFormat("%.0f /s", programs / seconds) : "–", "rate");
  html += Tile(Grouped(Whole(summary, "compared")), "compared");
  html += Tile(Percent(Number(summary, "inconclusive"), programs), "inconclusive");
  html += Tile(Grouped(findings), "findings", tone);
  html += Tile(Grouped(Whole(summary, "buckets")), "distinct", tone);
  html += "</div>";
  html += SplitBar(Stages(summary));
  html += FindingsTable(run, folder);
  html += RulesFired(summary);
  return html + "</div>\n";
}

std::string DefectsCard(const RunRow& run) {
  Json summary = SummaryOf(run);
  std::string html =
      StrCat("<div class=\"card\"><h3>", EscapeHtml(WhoOf(run)), "</h3>", Caption(run),
             "<div class=\"tiles\">", Tile(Word(summary, "score"), "mutation score", "good"),
             Tile(Grouped(Whole(summary, "killed")), "killed"),
             Tile(Grouped(Whole(summary, "defects")), "planted"),
             Tile(Grouped(Whole(summary, "blame_right")), "blamed rightly"), "</div>");
  std::vector<std::vector<std::string>> rows;
  auto table = summary.find("table");
  if (table != summary.end() && table->is_array()) {
    for (const Json& row : *table) {
      if (!row.is_object()) continue;
      bool killed = row.value("killed", false);
      rows.push_back({"<code>" + EscapeHtml(Word(row, "defect")) + "</code>",
                      EscapeHtml(Word(row, "kind")), StatusBadge(killed ? "killed" : "survived"),
                      killed ? Seconds(Number(row, "seconds")) : "–",
                      killed ? EscapeHtml(Word(row, "blamed")) : "–",
                      killed ? Grouped(Whole(row, "instructions")) : "–"});
    }
  }
  return html +
         HtmlTable({{"defect"}, {"kind"}, {""}, {"after", true}, {"blamed"}, {"reduced to", true}},
                   rows) +
         "</div>\n";
}

std::string BenchCard(const RunRow& run) {
  std::string html =
      StrCat("<div class=\"card\"><h3>", EscapeHtml(WhoOf(run)), "</h3>", Caption(run));
  std::vector<std::vector<std::string>> rows;
  for (const BenchmarkRow& row : run.benchmarks) {
    if (row.metric != "run_seconds" && row.metric != "compile_seconds") continue;
    rows.push_back({EscapeHtml(row.name), EscapeHtml(row.subject),
                    row.metric == "run_seconds" ? "run" : "compile", Seconds(row.value),
                    StrCat(Seconds(row.lower), " … ", Seconds(row.upper)), Grouped(row.samples)});
  }
  for (std::string metric : {"run_speedup", "compile_speedup"}) {
    std::vector<Interval> ratios;
    for (const BenchmarkRow& row : run.benchmarks) {
      if (row.metric == metric) ratios.push_back({row.name, row.value, row.lower, row.upper});
    }
    if (ratios.empty()) continue;
    StrAppend(&html, "<p>", metric == "run_speedup" ? "Run" : "Compile",
              " speed-up: the peer's time divided by ours; above 1 is faster. The line is the 95 % "
              "confidence interval.</p>",
              RatioChart(ratios));
  }
  return html +
         HtmlTable({{"workload"},
                    {"backend"},
                    {"of"},
                    {"median", true},
                    {"95 % interval", true},
                    {"samples", true}},
                   rows) +
         "</div>\n";
}

struct Section {
  const char* verb;
  const char* anchor;
  const char* title;
  std::string (*render)(const RunRow& run, const std::string& folder);
};

constexpr Section kSections[] = {
    {"check", "check", "Real modules",
     [](const RunRow& run, const std::string&) { return CheckCard(run); }},
    {"conform", "conform", "Conformance",
     [](const RunRow& run, const std::string&) { return CheckCard(run); }},
    {"fuzz", "fuzz", "Campaigns", FuzzCard},
    {"defects", "defects", "Planted defects",
     [](const RunRow& run, const std::string&) { return DefectsCard(run); }},
    {"bench", "bench", "Speed",
     [](const RunRow& run, const std::string&) { return BenchCard(run); }},
};

// The newest kinds of each verb, oldest first within a section.
std::vector<const RunRow*> ShownOf(const std::vector<RunRow>& latest) {
  constexpr int kMostOfAVerb = 12;
  std::map<std::string, int> shown;
  std::vector<const RunRow*> newest;
  for (auto run = latest.rbegin(); run != latest.rend(); ++run) {
    if (shown[run->verb]++ < kMostOfAVerb) newest.push_back(&*run);
  }
  std::reverse(newest.begin(), newest.end());
  return newest;
}

std::string RunList(const std::vector<RunRow>& runs) {
  std::vector<std::vector<std::string>> rows;
  for (const RunRow& run : runs) {
    rows.push_back({StrCat(run.id), UtcTime(run.started_ms),
                    "<code>" + EscapeHtml(run.command) + "</code>",
                    EscapeHtml(StrCat(run.backend, run.backend_version.empty() ? "" : ": ",
                                      run.backend_version)),
                    Seconds(run.seconds), EscapeHtml(run.version),
                    "<code>" + EscapeHtml(run.commit) + "</code>"});
  }
  return HtmlTable({{"run", true},
                    {"started"},
                    {"command"},
                    {"judged"},
                    {"took", true},
                    {"version"},
                    {"commit"}},
                   rows);
}

}  // namespace

std::string RenderPage(const std::vector<RunRow>& runs, const PageOptions& options) {
  const std::vector<RunRow> latest = LatestOfEachKind(runs);
  const std::vector<const RunRow*> shown = ShownOf(latest);
  std::string nav, body;
  for (const Section& section : kSections) {
    std::string cards;
    for (const RunRow* run : shown) {
      if (run->verb == section.verb) cards += section.render(*run, options.folder);
    }
    if (cards.empty()) continue;
    StrAppend(&nav, "<a href=\"#", section.anchor, "\">", section.title, "</a>");
    StrAppend(&body, "<h2 id=\"", section.anchor, "\">", section.title, "</h2>\n", cards);
  }
  std::string machine;
  if (!runs.empty()) {
    const RunRow& run = runs.front();
    machine = StrCat("<p class=\"soft\">", UtcTime(run.started_ms), " · ", EscapeHtml(run.machine),
                     ", ", EscapeHtml(run.cpu), ", ", run.cores, " cores · assay ",
                     EscapeHtml(run.version), " ", EscapeHtml(run.commit), "</p>");
  }
  return StrCat(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
      "<meta name=\"color-scheme\" content=\"light dark\"><title>",
      EscapeHtml(options.title), "</title><style>", StyleSheet(),
      "</style></head><body>\n<header><h1>", EscapeHtml(options.title), "</h1>", machine,
      "<p class=\"verdict\">", EscapeHtml(Headline(latest, runs)), "</p><nav>", nav,
      "<a href=\"#runs\">All runs</a></nav></header>\n<main>", body,
      "<h2 id=\"runs\">All runs</h2><div class=\"card\">", RunList(runs),
      "</div></main>\n<footer>Allowed answers are derived from the program and its inputs, not "
      "guessed: every element is judged against its own bound.</footer></body></html>\n");
}

absl::StatusOr<std::string> WritePage(const std::vector<RunRow>& runs, const PageOptions& options) {
  ASSAY_RETURN_IF_ERROR(MakeFolder(options.folder));
  std::string path = options.folder + "/index.html";
  ASSAY_RETURN_IF_ERROR(WriteFile(path, RenderPage(runs, options)));
  return path;
}

}  // namespace assay
