// Two runs are compared, and the difference is told.
#include "reports/forms/run_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nlohmann/json.hpp"

namespace assay {
namespace {

using testing::HasSubstr;

RunRow RunWith(const std::string& backend,
               const std::vector<std::pair<std::string, std::string>>& cases) {
  RunRow run;
  run.verb = "conform";
  run.backend = backend;
  for (const auto& [name, status] : cases) {
    CaseRow row;
    row.name = name;
    row.subject = backend;
    row.status = status;
    if (status != "passed") row.detail = "why | so\nsecond line";
    run.cases.push_back(row);
  }
  return run;
}

TEST(RunDiffTest, TellsWorseFromBetter) {
  const RunRow a =
      RunWith("cpu", {{"x", "passed"}, {"y", "failed"}, {"z", "passed"}, {"w", "failed"}});
  const RunRow b =
      RunWith("cpu", {{"x", "crashed"}, {"y", "passed"}, {"z", "passed"}, {"v", "failed"}});
  const RunDiff diff = DiffRuns(a, b);
  EXPECT_EQ(diff.equal, 1);
  EXPECT_EQ(diff.worse, 2) << "x, and v, which is new and wrong";
  EXPECT_EQ(diff.better, 1) << "y; that w is not there makes nothing better";
  ASSERT_EQ(diff.changes.size(), 4u);
  EXPECT_TRUE(diff.changes[0].IsWorse());
  EXPECT_THAT(DiffText(a, b, diff, 1),
              HasSubstr("3 more\n2 worse, 1 better, 1 other changes, 1 the same"));
  EXPECT_THAT(DiffMarkdown(a, b, diff, 9), HasSubstr("| x | passed | crashed | why \\| so |"));
  const nlohmann::json json = nlohmann::json::parse(DiffJson(a, b, diff));
  EXPECT_EQ(json["worse"], 2);
  EXPECT_EQ(json["changes"].size(), 4u);
}

TEST(RunDiffTest, OneBackendStandsForTheOther) {
  const RunDiff diff =
      DiffRuns(RunWith("cpu", {{"x", "passed"}}), RunWith("xla", {{"x", "passed"}}));
  EXPECT_EQ(diff.equal, 1);
  EXPECT_TRUE(diff.changes.empty());
}

}  // namespace
}  // namespace assay
