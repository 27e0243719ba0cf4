// Rows that are added to a store come back; files of others and of newer programs are refused.
#include "reports/store.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "reports/sqlite.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

std::string FreshPath(const std::string& name) {
  std::string path = testing::TempDir() + "/assay_store_test/" + name + "/assay.db";
  std::filesystem::remove_all(std::filesystem::path(path).parent_path());
  return path;
}

RunRow SampleRun() {
  RunRow run = BeginRun("check", "cpu", "assay check conformance/corpus");
  run.seconds = 1.5;
  run.summary = R"({"passed":1,"failed":1})";
  CaseRow row;
  row.name = "binary__f32";
  row.subject = "cpu";
  row.status = "failed";
  row.detail = "element 3: got 'x'; allowed \"y\"";
  row.elements = 12;
  row.failed = 1;
  row.bound_used = 0.25;
  run.cases.push_back(row);
  run.findings.push_back({"ds-of-ds/abc", "ds-of-ds: wrong value", "wrong value", "ds-of-ds",
                          "assay-out/bugs/1", 17, 4});
  run.benchmarks.push_back({"gemm", "run_speedup", "xla/cpu", 1.25, 1.2, 1.3, 40});
  return run;
}

TEST(Store, ReturnsWhatWasAdded) {
  auto store = Store::Open(FreshPath("round_trip"));
  ASSERT_TRUE(store.ok()) << store.status();
  RunRow run = SampleRun();
  ASSERT_TRUE((*store)->Add(run).ok());
  auto latest = (*store)->Latest(10);
  ASSERT_TRUE(latest.ok()) << latest.status();
  ASSERT_EQ(latest->size(), 1u);
  const RunRow& got = latest->front();
  EXPECT_EQ(got.verb, "check");
  EXPECT_EQ(got.command, run.command);
  EXPECT_EQ(got.machine, run.machine);
  EXPECT_EQ(got.cpu, run.cpu);
  EXPECT_EQ(got.summary, run.summary);
  ASSERT_EQ(got.cases.size(), 1u);
  EXPECT_EQ(got.cases[0].detail, run.cases[0].detail);
  EXPECT_EQ(got.cases[0].bound_used, 0.25);
  ASSERT_EQ(got.findings.size(), 1u);
  EXPECT_EQ(got.findings[0].rule, "ds-of-ds");
  EXPECT_EQ(got.findings[0].case_index, 17);
  ASSERT_EQ(got.benchmarks.size(), 1u);
  EXPECT_EQ(got.benchmarks[0].upper, 1.3);
}

TEST(Store, FoldsFindingsOfOneBug) {
  auto store = Store::Open(FreshPath("buckets"));
  ASSERT_TRUE(store.ok()) << store.status();
  ASSERT_TRUE((*store)->Add(SampleRun()).ok());
  ASSERT_TRUE((*store)->Add(SampleRun()).ok());
  auto counts = (*store)->BucketCounts();
  ASSERT_TRUE(counts.ok());
  ASSERT_EQ(counts->size(), 1u);
  EXPECT_EQ(counts->front().first, "ds-of-ds/abc");
  EXPECT_EQ(counts->front().second, 2);
}

TEST(Store, SurvivesConcurrentWriters) {
  std::string path = FreshPath("concurrent");
  constexpr int kWriters = 6, kRuns = 5;
  std::vector<pid_t> children;
  for (int i = 0; i < kWriters; ++i) {
    pid_t child = fork();
    if (child == 0) {
      int failures = 0;
      for (int k = 0; k < kRuns; ++k) {
        auto store = Store::Open(path);
        absl::Status status = store.status();
        if (status.ok()) status = (*store)->Add(SampleRun()).status();
        if (status.ok()) continue;
        ++failures;
        std::fprintf(stderr, "writer %d, run %d: %s\n", i, k, status.ToString().c_str());
      }
      _exit(failures);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  auto store = Store::Open(path);
  ASSERT_TRUE(store.ok());
  auto latest = (*store)->Latest(1000);
  ASSERT_TRUE(latest.ok());
  EXPECT_EQ(latest->size(), static_cast<size_t>(kWriters * kRuns));
}

TEST(Store, RefusesANewerSchema) {
  std::string path = FreshPath("newer");
  {
    ASSERT_TRUE(Store::Open(path).ok());
  }
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  ASSERT_TRUE(
      Execute(database, "INSERT INTO schema_migrations(version, description) VALUES(99, 'later')")
          .ok());
  sqlite3_close(database);
  auto store = Store::Open(path);
  ASSERT_FALSE(store.ok());
  EXPECT_NE(ToStd(store.status().message()).find("schema 99"), std::string_view::npos)
      << store.status();
}

TEST(Store, RefusesAFileThatIsNoDatabase) {
  std::string path = FreshPath("garbage");
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  FILE* file = std::fopen(path.c_str(), "w");
  std::fputs("this is not a database, whatever its name says", file);
  std::fclose(file);
  const absl::Status status = Store::Open(path).status();
  EXPECT_FALSE(status.ok());
  // The message says which file it is and what to do.
  EXPECT_NE(ToStd(status.message()).find(path), std::string_view::npos) << status;
  EXPECT_NE(ToStd(status.message()).find("--db"), std::string_view::npos) << status;
}

TEST(Store, LeavesSomebodyElsesDatabaseAlone) {
  std::string path = FreshPath("foreign");
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  ASSERT_TRUE(Execute(database, "CREATE TABLE notes(text TEXT)").ok());
  const absl::Status status = Store::Open(path).status();
  EXPECT_NE(ToStd(status.message()).find("no result store"), std::string_view::npos) << status;
  {
    Statement query(database, "SELECT COUNT(*) FROM sqlite_master");
    ASSERT_TRUE(query.Step());
    EXPECT_EQ(query.Integer(0), 1);
  }
  sqlite3_close(database);
}

}  // namespace
}  // namespace assay
