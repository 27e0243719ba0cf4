// Forms for other programs: well formed whatever stands in the rows, and nothing is lost.
#include "reports/forms/machine_reports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nlohmann/json.hpp"
#include "spec/base/strings.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

CaseRow Case(const std::string& name, const std::string& status, const std::string& detail = "") {
  CaseRow row;
  row.name = name;
  row.subject = "cpu";
  row.status = status;
  row.detail = detail;
  return row;
}

std::vector<RunRow> Runs() {
  RunRow check = BeginRun("check", "cpu", "assay check x");
  check.started_ms = 1795000000000;
  check.cases = {Case("good", "passed"),
                 Case("bad", "failed", "element 3: <nan> & \"1\" | 2\nand \x01\xff]]> more"),
                 Case("dead", "crashed", "SIGSEGV"),
                 Case("odd", "a status of a later version"),
                 Case("open", "inconclusive"),
                 Case("lacks", "unsupported")};
  check.cases[1].source = "a folder/bad#1.hlo";
  RunRow fuzz = BeginRun("fuzz", "xla", "assay fuzz");
  fuzz.findings.push_back(
      {"ds-of-ds/abc", "wrong <value>", "wrong value", "ds-of-ds", "bugs/1", 17, 4});
  return {fuzz, check};
}

std::string Rendered(const std::string& name) {
  for (const ReportForm& form : ReportForms()) {
    if (form.name == name) return form.render(Runs());
  }
  return "";
}

TEST(MachineReports, JunitCountsEveryCaseOnce) {
  const std::string xml = Rendered("junit");
  EXPECT_THAT(xml, HasSubstr("tests=\"6\" failures=\"2\" errors=\"1\" skipped=\"2\""));
  EXPECT_THAT(xml, HasSubstr("tests=\"1\" failures=\"1\" errors=\"0\" skipped=\"0\""));
  EXPECT_THAT(xml, HasSubstr("&lt;nan&gt; &amp; &quot;1&quot;"));
  EXPECT_THAT(xml, HasSubstr("ds-of-ds/abc"));
}

// A parser of XML stops at a control character, at bytes that are no UTF-8 and at a bare "<".
TEST(MachineReports, JunitHoldsWhatXmlCanHold) {
  const std::string xml = Rendered("junit");
  for (char c : xml) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  EXPECT_THAT(xml, Not(HasSubstr("\xff")));
  EXPECT_THAT(xml, Not(HasSubstr("<nan>")));
  EXPECT_THAT(xml, Not(HasSubstr("]]>")));
}

TEST(MachineReports, SarifHasAResultForEachFailure) {
  const nlohmann::json sarif = nlohmann::json::parse(Rendered("sarif"));
  EXPECT_EQ(sarif["version"], "2.1.0");
  ASSERT_EQ(sarif["runs"].size(), 2u);
  size_t results = 0;
  std::string uris;
  for (const auto& run : sarif["runs"]) {
    results += run["results"].size();
    for (const auto& result : run["results"]) {
      EXPECT_FALSE(result["partialFingerprints"].empty());
      // Every rule that a result names is declared.
      bool is_declared = false;
      for (const auto& rule : run["tool"]["driver"]["rules"]) {
        is_declared = is_declared || rule["id"] == result["ruleId"];
      }
      EXPECT_TRUE(is_declared) << result;
      if (result.contains("locations")) {
        uris += result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
      }
    }
  }
  EXPECT_EQ(results, 4u);
  EXPECT_THAT(uris, HasSubstr("a%20folder/bad%231.hlo"));
}

TEST(MachineReports, MarkdownTablesStayTables) {
  const std::string page = Rendered("markdown");
  EXPECT_THAT(page, HasSubstr("\\| 2 and"));
  EXPECT_THAT(page, HasSubstr("blamed: ds-of-ds"));
  EXPECT_THAT(page, HasSubstr("1 crashed"));
  EXPECT_THAT(page, Not(HasSubstr("good | passed")));
}

TEST(MachineReports, MarkdownSaysHowMuchItLeavesOut) {
  RunRow run = BeginRun("check", "cpu", "assay check x");
  for (int i = 0; i < 130; ++i) run.cases.push_back(Case(StrCat("case", i), "failed"));
  EXPECT_THAT(ReportForms()[2].render({run}), HasSubstr("30 more are not shown"));
}

TEST(MachineReports, JsonHasAllCases) {
  const nlohmann::json json = nlohmann::json::parse(Rendered("json"));
  ASSERT_EQ(json["runs"].size(), 2u);
  size_t cases = 0, findings = 0;
  for (const auto& run : json["runs"]) {
    cases += run["cases"].size();
    findings += run["findings"].size();
  }
  EXPECT_EQ(cases, 6u);
  EXPECT_EQ(findings, 1u);
}

}  // namespace
}  // namespace assay
