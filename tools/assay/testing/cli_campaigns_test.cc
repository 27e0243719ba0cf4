// Campaigns, defects and their pages from outside.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tools/assay/testing/cli_for_test.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Cli, ReportFollowsARecordedRun) {
  Shell("rm -f recorded.db");
  ASSERT_EQ(Assay("conform --backend reference --filter concatenate --db recorded.db").status, 0);
  Output output = Assay("report html --db recorded.db -o page");
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_THAT(output.text, HasSubstr("page/index.html about 1 run and"));
  output = Assay("report page --db recorded.db -o onepage --json");
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_EQ(output.LastJson().value("page", ""), "onepage/index.html");
  for (const auto& [form, holds] :
       {std::pair("junit", "<testsuites"), std::pair("sarif", "2.1.0"),
        std::pair("markdown", "| conform"), std::pair("json", "\"headline\"")}) {
    output = Assay(std::string("report ") + form + " --db recorded.db");
    EXPECT_EQ(output.status, 0) << output.text;
    EXPECT_THAT(output.text, HasSubstr(holds));
  }
}

TEST(Cli, FuzzSaysWhatItCompared) {
  Output output = Assay("fuzz --count 50 --seed 3 --jobs 1 --json");
  nlohmann::json summary = output.LastJson();
  ASSERT_TRUE(summary.is_object()) << output.text;
  EXPECT_EQ(summary.value("programs", -1), 50);
  for (const char* key : {"compared", "inconclusive", "findings", "buckets", "seconds"}) {
    EXPECT_TRUE(summary.contains(key)) << key;
  }
  EXPECT_EQ(output.status, summary.value("findings", -1) > 0 ? 1 : 0);
}

// Runs the same programs every time, with all that the simulator watches.
TEST(Cli, ACampaignOnSimulatedGpusIsSilent) {
  const Output output =
      Assay("fuzz --backend gpu-sim --count 1500 --seed 20 --jobs 2 --no-db --json --no-triage");
  const nlohmann::json summary = output.LastJson();
  ASSERT_TRUE(summary.is_object()) << output.text;
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_EQ(summary.value("programs", -1), 1500);
  EXPECT_EQ(summary.value("findings", -1), 0) << output.text;
  EXPECT_LE(summary.value("unsupported", 1000), 15) << output.text;
  EXPECT_GE(summary.value("compared", 0), 1300) << output.text;
}

TEST(Cli, ARunOfDefectsResumesAndMakesItsPage) {
  const std::string out = testing::TempDir() + "/assay_defects_test";
  std::filesystem::remove_all(out);
  const std::string run = "defects --run --json --only ds-of-ds-clamp --time 1s --no-triage --out ";
  const Output first = Assay(run + out);
  EXPECT_EQ(first.LastJson()["defects"], 1) << first.text;
  std::ifstream results(out + "/results-1-1.jsonl");
  const nlohmann::json line = nlohmann::json::parse(results, nullptr, false);
  EXPECT_EQ(line["defect"], "ds-of-ds-clamp");
  EXPECT_EQ(line["limit"], 1.0);
  EXPECT_FALSE(line["triaged"]);
  const Output second = Assay(run + out + " --resume");
  EXPECT_EQ(second.LastJson()["defects"], 0) << second.text;
  EXPECT_EQ(Assay("defects --out " + out + " --page " + out + "/page.md").status, 0);
  std::ifstream file(out + "/page.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(page.find("| `ds-of-ds-clamp` | side-conditions | `ds-of-ds` |"), std::string::npos);
  EXPECT_NE(page.find("at most 1 s each"), std::string::npos);
  WriteFile("assay_defects_test/results-2-2.jsonl", "{\"defect\": 1}\n");
  const Output bad = Assay("defects --out " + out + " --page " + out + "/page.md");
  EXPECT_EQ(bad.status, 2);
  EXPECT_NE(bad.text.find("no score"), std::string::npos) << bad.text;
}

TEST(Cli, ALedgerOfCausesIsASuiteAndMakesItsPage) {
  const std::string ledger = Source("conformance/known/xla-cpu");
  const Output run = Assay("conform --no-db --json --filter root-of-a-square --suite " + ledger);
  EXPECT_EQ(run.status, 0) << run.text;
  EXPECT_EQ(run.LastJson()["passed"], 1) << run.text;
  const std::string page = testing::TempDir() + "/assay_cli_test/known.md";
  std::ofstream(page) << "before\n<!-- assay known xla-cpu begins -->\nold\n"
                         "<!-- assay known xla-cpu ends -->\nafter\n";
  const std::string check = "known --check --ledger " + ledger + " --page " + page;
  const Output stale = Assay(check);
  EXPECT_EQ(stale.status, 1);
  EXPECT_THAT(stale.text, HasSubstr("writes them anew"));
  std::ofstream(page) << "somebody's own words\n";
  EXPECT_THAT(Assay(check).text, HasSubstr("no place for the list"));
}

TEST(Cli, AScreeningOfDefectsMakesItsPage) {
  const std::string out = testing::TempDir() + "/assay_screen_test";
  std::filesystem::remove_all(out);
  const Output made =
      Assay("defects --screen 300 --only kernel-loop-short --json --no-db --out " + out);
  ASSERT_EQ(made.status, 0) << made.text;
  const nlohmann::json line = made.LastJson();
  EXPECT_EQ(line["defect"], "kernel-loop-short");
  EXPECT_EQ(line["killed"], true) << made.text;
  EXPECT_LE(line["programs"], 300);
  EXPECT_GE(line["bites"], 1);
  const Output paged =
      Assay("defects --results " + out + "/results-1-1.jsonl --page " + out + "/page.md");
  ASSERT_EQ(paged.status, 0) << paged.text;
  std::ifstream file(out + "/page.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(page.find("1 of 1 defects killed (100.0 %)"), std::string::npos)
      << page.substr(0, 3000);
}

TEST(Cli, ThePageOfDefectsIsMadeFromItsResults) {
  const std::string page = testing::TempDir() + "/mutation.md";
  const Output made = Assay("defects --results " +
                            Source("tools/assay/testdata/mutation_run.jsonl") + " --page " + page);
  ASSERT_EQ(made.status, 0) << made.text;
  const auto text = [](const std::string& path) {
    std::ifstream file(path);
    return std::string{std::istreambuf_iterator<char>(file), {}};
  };
  EXPECT_EQ(text(page), text(Source("docs/mutation.md")));
}

TEST(Cli, ReplayTakesTheInputsThatFailed) {
  const std::string folder = testing::TempDir() + "/assay_cli_test/sets";
  std::filesystem::remove_all(folder);
  const std::string planted = " --seed 8 --defect ds-of-ds-clamp";
  ASSERT_EQ(Assay("fuzz --count 4000 --no-triage --jobs 1 --out sets" + planted).status, 1);
  std::ifstream results(folder + "/results.jsonl");
  nlohmann::json finding;
  for (std::string line; finding.is_null() && std::getline(results, line);) {
    nlohmann::json row = nlohmann::json::parse(line);
    if (row.value("type", "") == "finding" && row.value("input_set", 0) == 1) finding = row;
  }
  ASSERT_FALSE(finding.is_null());
  const std::string replay = "replay --index " + finding["index"].dump() + planted;
  EXPECT_EQ(Assay(replay + " --input-set 1").status, 1);
  EXPECT_EQ(Assay(replay).status, 0);
}

TEST(Cli, APlantedDefectIsFoundBlamedAndReplayed) {
  // Findings of an earlier run of a worse program would still lie there.
  std::filesystem::remove_all(testing::TempDir() + "/assay_cli_test/planted");
  Output found =
      Assay("fuzz --time 60s --stop-after 1 --defect ds-of-ds-clamp --json --out planted --jobs 1");
  ASSERT_EQ(found.status, 1) << found.text;
  nlohmann::json summary = found.LastJson();
  ASSERT_TRUE(summary.contains("found") && !summary["found"].empty()) << found.text;
  std::string page;
  for (const auto& entry :
       std::filesystem::directory_iterator(testing::TempDir() + "/assay_cli_test/planted/bugs")) {
    page = entry.path().string();
  }
  Output replayed = Assay("replay '" + page + "'");
  EXPECT_EQ(replayed.status, 1) << replayed.text;
  EXPECT_THAT(replayed.text, HasSubstr("wrong value"));
  EXPECT_EQ(Shell("ASSAY='" ASSAY_PROGRAM "' sh '" + page + "/repro.sh'").status, 1);
  const Output listed = Assay("bugs");
  EXPECT_EQ(listed.status, 0);
  EXPECT_THAT(listed.text, HasSubstr("ds-of-ds"));
  const Output lost = Shell("ASSAY=/nonexistent/assay sh '" + page + "/repro.sh'");
  EXPECT_EQ(lost.status, 2);
  EXPECT_THAT(lost.text, HasSubstr("ASSAY=/path/to/assay"));
  Output blamed = Assay("blame '" + page + "'");
  EXPECT_EQ(blamed.status, 1);
  EXPECT_THAT(blamed.text, HasSubstr("ds-of-ds"));
}

}  // namespace
}  // namespace assay
