// Each form goes over the newest run of each kind once.
#include "reports/forms/machine_reports.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "reports/headline.h"
#include "reports/latest.h"
#include "reports/numbers.h"
#include "reports/run_summary.h"
#include "reports/version.h"
#include "spec/base/escape.h"
#include "spec/base/html.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

using Json = nlohmann::json;

// Every status is one of these; a status of a later version counts as bad, so that nothing is lost.
enum class Weight : uint8_t { kGood, kBad, kBroken, kOpen };

Weight WeightOf(const CaseRow& row) {
  if (row.status == "passed") return Weight::kGood;
  if (row.status == "crashed" || row.status == "unreadable") return Weight::kBroken;
  const bool is_open = row.status == "inconclusive" || row.status == "unsupported" ||
                       row.status == "nothing to judge" || row.status == "waived";
  return is_open ? Weight::kOpen : Weight::kBad;
}

std::string TitleOf(const RunRow& run) {
  return StrCat(run.verb, " ", run.backend,
                run.backend_version.empty() ? "" : StrCat(" (", run.backend_version, ")"));
}

std::string Dumped(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// Characters that XML 1.0 cannot hold, escaped or not, stand there in words.
std::string XmlText(std::string_view text) {
  std::string plain;
  for (char c : Printable(text)) plain += c == '\n' || c == '\t' ? ' ' : c;
  return EscapeHtml(plain);
}

std::string Timestamp(int64_t ms) {
  std::string text = UtcTime(ms);  // 2026-11-21 07:12 UTC
  if (text.size() < 16) return "1970-01-01T00:00:00";
  text[10] = 'T';
  return text.substr(0, 16) + ":00";
}

// A case of JUnit: what it is called, and what is told of it when it did not pass.
std::string JunitCase(const std::string& group, const CaseRow& row) {
  std::string xml = absl::StrFormat(
      "    <testcase classname=\"%s\" name=\"%s\" time=\"%.6f\"", XmlText(group),
      XmlText(StrCat(row.name, row.inputs.empty() ? "" : StrCat(" [", row.inputs, "]"))),
      row.compile_seconds + row.run_seconds);
  const std::string told = StrCat(" message=\"", XmlText(row.status), "\">", XmlText(row.detail));
  switch (WeightOf(row)) {
    case Weight::kGood:
      return xml + "/>\n";
    case Weight::kBad:
      return StrCat(xml, "><failure type=\"", XmlText(row.status), "\"", told,
                    "</failure></testcase>\n");
    case Weight::kBroken:
      return StrCat(xml, "><error type=\"", XmlText(row.status), "\"", told,
                    "</error></testcase>\n");
    case Weight::kOpen:
      return StrCat(xml, "><skipped", told, "</skipped></testcase>\n");
  }
  return xml + "/>\n";
}

std::string JunitReport(const std::vector<RunRow>& runs) {
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"Assay\">\n";
  for (const RunRow& run : LatestOfEachKind(runs)) {
    std::string cases;
    std::map<Weight, int64_t> counts;
    for (const CaseRow& row : run.cases) {
      ++counts[WeightOf(row)];
      cases +=
          JunitCase(StrCat(run.verb, ".", row.subject.empty() ? run.backend : row.subject), row);
    }
    // A campaign has no list of what passed: each bug is a case that failed.
    for (const FindingRow& finding : run.findings) {
      CaseRow row;
      row.name = finding.fingerprint;
      row.status = finding.kind;
      row.detail = StrCat(finding.title, finding.rule.empty() ? "" : ", blamed: ", finding.rule,
                          finding.page.empty() ? "" : ", page: ", finding.page);
      ++counts[Weight::kBad];
      cases += JunitCase(StrCat(run.verb, ".", run.backend), row);
    }
    int64_t all = 0;
    for (const auto& [weight, count] : counts) all += count;
    if (all == 0) continue;
    StrAppend(&xml, "  <testsuite name=\"", XmlText(TitleOf(run)), "\" tests=\"", all,
              "\" failures=\"", counts[Weight::kBad], "\" errors=\"", counts[Weight::kBroken],
              "\" skipped=\"", counts[Weight::kOpen], "\" time=\"",
              absl::StrFormat("%.3f", run.seconds), "\" timestamp=\"", Timestamp(run.started_ms),
              "\" hostname=\"", XmlText(run.machine), "\">\n", cases, "  </testsuite>\n");
  }
  return xml + "</testsuites>\n";
}

// A path as a URI reference: what a URI cannot hold is written by its bytes.
std::string UriOf(std::string_view path) {
  std::string uri;
  for (char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = absl::ascii_isalnum(byte) || absl::StrContains("/._-~+,=@", c);
    uri += is_plain ? std::string(1, c) : absl::StrFormat("%%%02X", byte);
  }
  return uri;
}

Json SarifResult(const std::string& rule, const std::string& message, const std::string& place,
                 const std::string& fingerprint) {
  Json result = {{"ruleId", rule},
                 {"level", "error"},
                 {"message", {{"text", message}}},
                 {"partialFingerprints", {{"assay/v1", fingerprint}}}};
  if (!place.empty()) {
    result["locations"] =
        Json::array({{{"physicalLocation", {{"artifactLocation", {{"uri", UriOf(place)}}}}}}});
  }
  return result;
}

std::string SarifReport(const std::vector<RunRow>& runs) {
  Json all = Json::array();
  for (const RunRow& run : LatestOfEachKind(runs)) {
    Json results = Json::array();
    std::set<std::string> rules;
    for (const CaseRow& row : run.cases) {
      const Weight weight = WeightOf(row);
      if (weight != Weight::kBad && weight != Weight::kBroken) continue;
      rules.insert(row.status);
      results.push_back(SarifResult(row.status,
                                    StrCat(row.name, " on ", row.subject, ": ", row.status,
                                           row.detail.empty() ? "" : ": ", row.detail),
                                    row.source,
                                    StrCat(row.name, "/", row.subject, "/", row.inputs)));
    }
    for (const FindingRow& finding : run.findings) {
      rules.insert(finding.kind);
      results.push_back(
          SarifResult(finding.kind,
                      StrCat(finding.title, finding.rule.empty() ? "" : ", blamed: ", finding.rule),
                      finding.page, finding.fingerprint));
    }
    Json rule_list = Json::array();
    for (const std::string& rule : rules) rule_list.push_back({{"id", rule}});
    all.push_back({{"tool",
                    {{"driver",
                      {{"name", StrCat("Assay ", run.verb)},
                       {"version", run.version},
                       {"rules", rule_list}}}}},
                   // Two backends' results are not one list that replaces the other.
                   {"automationDetails", {{"id", StrCat(run.verb, "/", run.backend, "/")}}},
                   {"invocations",
                    Json::array({{{"commandLine", run.command}, {"executionSuccessful", true}}})},
                   {"results", results}});
  }
  return Dumped({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                 {"version", "2.1.0"},
                 {"runs", all}});
}

// A cell of a Markdown table: bars and line ends would end it.
std::string Cell(std::string_view text) {
  constexpr size_t kMost = 300;
  std::string cell;
  for (char c : Printable(text)) {
    if (c == '|' || c == '\\') cell += '\\';
    cell += c == '\n' || c == '\t' ? ' ' : c;
  }
  cell = EscapeHtml(cell);
  return cell.size() > kMost ? StrCat(Printable(cell.substr(0, kMost)), " ...") : cell;
}

std::string MarkdownCounts(const RunRow& run) {
  std::map<std::string, int64_t> counts;
  for (const CaseRow& row : run.cases) ++counts[row.status];
  if (!run.findings.empty()) counts["findings"] = static_cast<int64_t>(run.findings.size());
  if (!run.benchmarks.empty()) {
    std::set<std::string> names;
    for (const BenchmarkRow& row : run.benchmarks) names.insert(row.name);
    counts["workloads"] = static_cast<int64_t>(names.size());
  }
  std::string text;
  for (const auto& [name, count] : counts) {
    StrAppend(&text, text.empty() ? "" : ", ", Grouped(count), " ", name);
  }
  return text.empty() ? "-" : text;
}

std::string MarkdownReport(const std::vector<RunRow>& runs) {
  const std::vector<RunRow> latest = LatestOfEachKind(runs);
  std::string page = StrCat("# Assay\n\n", Cell(Headline(latest, runs)),
                            "\n\n| run | commit | when | took | results |\n"
                            "| --- | --- | --- | ---: | --- |\n");
  for (const RunRow& run : latest) {
    StrAppend(&page, "| ", Cell(TitleOf(run)), " | ", Cell(run.commit), " | ",
              UtcTime(run.started_ms), " | ", Seconds(run.seconds), " | ",
              Cell(MarkdownCounts(run)), " |\n");
  }
  constexpr int64_t kMost = 100;
  int64_t shown = 0, left_out = 0;
  for (const RunRow& run : latest) {
    std::string rows;
    const auto add = [&](const std::string& what, const std::string& status,
                         const std::string& detail) {
      if (++shown > kMost) {
        ++left_out;
        return;
      }
      StrAppend(&rows, "| ", Cell(what), " | ", Cell(status), " | ", Cell(detail), " |\n");
    };
    for (const CaseRow& row : run.cases) {
      const Weight weight = WeightOf(row);
      if (weight != Weight::kBad && weight != Weight::kBroken) continue;
      add(StrCat(row.name, row.inputs.empty() ? "" : ", ", row.inputs), row.status, row.detail);
    }
    for (const FindingRow& finding : run.findings) {
      add(finding.title, finding.kind, finding.rule.empty() ? "" : "blamed: " + finding.rule);
    }
    if (rows.empty()) continue;
    StrAppend(&page, "\n## ", Cell(TitleOf(run)), "\n\n| case | status | detail |\n",
              "| --- | --- | --- |\n", rows);
  }
  if (left_out > 0) StrAppend(&page, "\n", Grouped(left_out), " more are not shown.\n");
  return page;
}

Json CaseJson(const CaseRow& row) {
  return {{"name", row.name},
          {"subject", row.subject},
          {"status", row.status},
          {"detail", row.detail},
          {"elements", row.elements},
          {"failed", row.failed},
          {"inconclusive", row.inconclusive},
          {"bound_used", row.bound_used},
          {"compile_seconds", row.compile_seconds},
          {"run_seconds", row.run_seconds},
          {"source", row.source},
          {"inputs", row.inputs}};
}

Json RunJson(const RunRow& run) {
  Json json = {{"verb", run.verb},
               {"backend", run.backend},
               {"backend_version", run.backend_version},
               {"command", run.command},
               {"started", UtcTime(run.started_ms)},
               {"started_ms", run.started_ms},
               {"seconds", run.seconds},
               {"machine", run.machine},
               {"cpu", run.cpu},
               {"cores", run.cores},
               {"version", run.version},
               {"commit", run.commit},
               {"summary", SummaryOf(run)},
               {"cases", Json::array()},
               {"findings", Json::array()},
               {"benchmarks", Json::array()}};
  for (const CaseRow& row : run.cases) json["cases"].push_back(CaseJson(row));
  for (const FindingRow& row : run.findings) {
    json["findings"].push_back({{"fingerprint", row.fingerprint},
                                {"title", row.title},
                                {"kind", row.kind},
                                {"rule", row.rule},
                                {"page", row.page},
                                {"case", row.case_index},
                                {"instructions", row.instructions}});
  }
  for (const BenchmarkRow& row : run.benchmarks) {
    json["benchmarks"].push_back({{"name", row.name},
                                  {"metric", row.metric},
                                  {"subject", row.subject},
                                  {"value", row.value},
                                  {"lower", row.lower},
                                  {"upper", row.upper},
                                  {"samples", row.samples}});
  }
  return json;
}

std::string JsonReport(const std::vector<RunRow>& runs) {
  const std::vector<RunRow> latest = LatestOfEachKind(runs);
  Json json = {{"assay", std::string(kAssayVersion)},
               {"headline", Headline(latest, runs)},
               {"runs", Json::array()}};
  for (const RunRow& run : latest) json["runs"].push_back(RunJson(run));
  return Dumped(json);
}

constexpr ReportForm kForms[] = {{"junit", JunitReport},
                                 {"sarif", SarifReport},
                                 {"markdown", MarkdownReport},
                                 {"json", JsonReport}};

}  // namespace

absl::Span<const ReportForm> ReportForms() { return kForms; }

}  // namespace assay
