// The page of a store with known rows shows them, and text from outside is escaped.
#include "reports/page/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/numbers.h"
#include "reports/page/charts.h"
#include "reports/page/html.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

RunRow Fuzz(int64_t id, const std::string& defect, int findings) {
  RunRow run;
  run.id = id;
  run.verb = "fuzz";
  run.backend = "cpu";
  run.command = "assay fuzz --backend cpu";
  run.summary = R"({"programs":1000,"compared":990,"inconclusive":5,"findings":)" +
                std::to_string(findings) + R"(,"buckets":)" + std::to_string(findings) +
                R"(,"seconds":10,"defect":")" + defect +
                R"(","stages":{"oracle":3,"code":7},"rules":{"ds-of-ds":12}})";
  for (int i = 0; i < findings; ++i) {
    run.findings.push_back({"print", "wrong <value> & more", "wrong value", "ds-of-ds",
                            "/tmp/out/bugs/one two", i, 4});
  }
  return run;
}

TEST(Page, ShowsTheNewestRunOfEachKind) {
  RunRow old_run = Fuzz(1, "", 0), planted = Fuzz(2, "ds-of-ds-clamp", 2), clean = Fuzz(3, "", 0);
  old_run.command = "assay fuzz --old";
  PageOptions options;
  options.folder = "/tmp/out/report";
  std::string page = RenderPage({clean, planted, old_run}, options);
  EXPECT_THAT(page, HasSubstr("ds-of-ds-clamp"));
  EXPECT_THAT(page, HasSubstr("planted defects found: 1 of 1"));
  EXPECT_THAT(page, HasSubstr("cpu: nothing wrong was found"));
  // The old run is in the list of runs only.
  size_t first = page.find("assay fuzz --old");
  ASSERT_NE(first, std::string::npos);
  EXPECT_GT(first, page.find("id=\"runs\""));
}

TEST(Page, EscapesDataAndLinksBugPagesRelatively) {
  PageOptions options;
  options.folder = "/tmp/out/report";
  std::string page = RenderPage({Fuzz(1, "d", 1)}, options);
  EXPECT_THAT(page, HasSubstr("wrong &lt;value&gt; &amp; more"));
  EXPECT_THAT(page, Not(HasSubstr("wrong <value>")));
  EXPECT_THAT(page, HasSubstr("href=\"../bugs/one%20two/bug.html\""));
}

TEST(Page, NeedsNothingFromElsewhere) {
  PageOptions options;
  options.folder = "/tmp/out/report";
  std::string page = RenderPage({Fuzz(1, "", 1)}, options);
  for (const char* forbidden : {"http:", "https:", "<script", "@import", "url("}) {
    EXPECT_THAT(page, Not(HasSubstr(forbidden)));
  }
}

TEST(Page, FindingsWithoutADefectAreBugs) {
  std::string page = RenderPage({Fuzz(1, "", 3)}, {});
  EXPECT_THAT(page,
              HasSubstr("3 distinct bugs from campaigns (wrong &lt;value&gt; &amp; more since "
                        "1970-01-01 00:00 UTC and 2 more)"));
}

RunRow Check(int64_t id, int64_t started_ms, const std::string& command,
             const std::string& status) {
  RunRow run;
  run.id = id;
  run.verb = "check";
  run.backend = "cpu";
  run.command = command;
  run.started_ms = started_ms;
  run.summary = "{}";
  CaseRow row;
  row.name = "mlp";
  row.subject = "stored";
  row.status = status;
  run.cases.push_back(row);
  return run;
}

TEST(Page, TheHeadlineSaysWhatFailsAndSinceWhen) {
  const int64_t day = 24 * 3600 * 1000;
  const std::vector<RunRow> runs = {Check(4, 3 * day, "assay check all", "failed"),
                                    Check(3, 2 * day, "assay check all", "failed"),
                                    Check(2, day, "assay check all", "passed"),
                                    Check(1, 0, "assay check all", "failed")};
  EXPECT_THAT(RenderPage(runs, {}),
              HasSubstr("cpu: 1 failed or crashed (mlp (stored) since 1970-01-03 00:00 UTC)"));
}

TEST(Page, ALookAtOneModuleDoesNotHideTheCorpus) {
  const std::string page = RenderPage(
      {Check(2, 10, "assay check one.hlo", "passed"), Check(1, 0, "assay check all", "failed")},
      {});
  const std::string shown = page.substr(0, page.find("id=\"runs\""));
  EXPECT_THAT(shown, HasSubstr("assay check one.hlo"));
  EXPECT_THAT(shown, HasSubstr("assay check all"));
}

RunRow Conform(int64_t id, const std::string& filter,
               const std::vector<std::pair<std::string, std::string>>& cases,
               const std::string& version = "") {
  RunRow run;
  run.id = id;
  run.verb = "conform";
  run.backend = "cpu";
  run.backend_version = version;
  run.command = filter.empty() ? "assay conform" : "assay conform --filter " + filter;
  run.started_ms = id * 1000;
  run.summary = R"({"suite":"goldens","failed":1})";
  for (const auto& [name, status] : cases) {
    CaseRow row;
    row.name = name;
    row.subject = "cpu";
    row.status = status;
    run.cases.push_back(row);
  }
  return run;
}

// A filtered run adds to what is known, and what it mended is mended.
TEST(Page, AFilteredRunHidesNothing) {
  const RunRow whole = Conform(1, "", {{"a", "failed"}, {"b", "failed"}, {"c", "passed"}});
  const RunRow filtered = Conform(2, "b", {{"b", "passed"}});
  const std::string page = RenderPage({filtered, whole}, {});
  EXPECT_THAT(page, HasSubstr("cpu: 1 failed or crashed (a since 1970-01-01 00:00 UTC)"));
  EXPECT_THAT(page, HasSubstr("<b>2</b><span>passed"));
  // A whole run stands for itself: what it does not have is gone.
  const std::string anew = RenderPage({Conform(3, "", {{"c", "passed"}}), filtered, whole}, {});
  EXPECT_THAT(anew, HasSubstr("cpu: nothing wrong was found"));
}

TEST(Page, EachReleaseHasACardOfItsOwn) {
  const std::string page = RenderPage(
      {Conform(2, "", {{"a", "passed"}}, "XLA 2"), Conform(1, "", {{"a", "failed"}}, "XLA 1")}, {});
  EXPECT_THAT(page, HasSubstr("cpu, XLA 1 on the documents"));
  EXPECT_THAT(page, HasSubstr("cpu, XLA 2 on the documents"));
  EXPECT_THAT(page, HasSubstr("cpu (XLA 1): 1 failed or crashed"));
  EXPECT_THAT(page, HasSubstr("cpu (XLA 2): nothing wrong was found"));
}

RunRow CheckOn(int64_t id, const std::string& status, const std::string& inputs,
               const std::string& source = "/m/mlp.hlo") {
  RunRow run = Check(id, id * 24 * 3600 * 1000, "assay check mlp.hlo", status);
  run.cases[0].inputs = inputs;
  run.cases[0].source = source;
  return run;
}

TEST(Page, APassOnDrawnInputsClearsNoRecordedFailure) {
  const RunRow recorded = CheckOn(1, "failed", CaseRow::kRecorded);
  const RunRow drawn = CheckOn(2, "passed", "drawn from seed 1");
  EXPECT_THAT(RenderPage({drawn, recorded}, {}), HasSubstr("cpu: 1 failed or crashed (mlp"));
  const RunRow mended = CheckOn(3, "passed", CaseRow::kRecorded);
  EXPECT_THAT(RenderPage({mended, drawn, recorded}, {}), HasSubstr("nothing wrong was found"));
  // A module of the same name that lies elsewhere passes between two failures of this one.
  const RunRow other = CheckOn(2, "passed", CaseRow::kRecorded, "/n/mlp.hlo");
  EXPECT_THAT(RenderPage({CheckOn(3, "failed", CaseRow::kRecorded), other, recorded}, {}),
              HasSubstr("mlp (stored) since 1970-01-02 00:00 UTC"));
}

TEST(Page, SurvivesASummaryThatIsNotJson) {
  RunRow run = Fuzz(1, "", 0);
  run.summary = "{broken";
  EXPECT_THAT(RenderPage({run}, {}), HasSubstr("</html>"));
  EXPECT_THAT(RenderPage({}, {}), HasSubstr("</html>"));
}

TEST(Charts, SharesAddUp) {
  std::string bar = SplitBar({{"oracle", 3}, {"code", 1}, {"none", 0}});
  EXPECT_THAT(bar, HasSubstr("oracle 75.0 %"));
  EXPECT_THAT(bar, HasSubstr("code 25.0 %"));
  EXPECT_THAT(bar, Not(HasSubstr("none")));
  EXPECT_EQ(SplitBar({}), "");
}

TEST(Html, Formats) {
  EXPECT_EQ(Grouped(1234567), "1,234,567");
  EXPECT_EQ(Grouped(-1234), "-1,234");
  EXPECT_EQ(Grouped(999), "999");
  EXPECT_EQ(Seconds(0.0123), "12.3 ms");
  EXPECT_EQ(Seconds(200), "3 min 20 s");
  EXPECT_EQ(UtcTime(0), "1970-01-01 00:00 UTC");
  EXPECT_EQ(EscapeHtml("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
}

}  // namespace
}  // namespace assay
