// Points of sides that only say how long they take.
#include "bench/tracking/point.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_replace.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

class PairsOfPoints : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = StrCat(testing::TempDir(), "/points-", getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // A program whose calls take the given times one after the other, over and over. `line` is what
  // it says, in which TIME stands for the time.
  Side Pretender(const std::string& name, const std::string& times, const std::string& line) {
    const std::string path = StrCat(folder_, "/", name);
    std::ofstream(path) << absl::StrReplaceAll(R"(#!/bin/sh
n=$(cat "$0.n" 2>/dev/null || echo 0)
echo $((n + 1)) > "$0.n"
set -- TIMES
shift $((n % $#))
echo '{"type":"workload","backends":[{LINE}]}' | sed "s/TIME/$1/g"
)",
                                               {{"TIMES", times}, {"LINE", line}});
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return {name, path, "cpu", ""};
  }
  int64_t CallsOf(const Side& side) const {
    int64_t calls = 0;
    std::ifstream(side.program + ".n") >> calls;
    return calls;
  }
  PointRow Take(const Side& side, const Side& frozen) {
    const absl::StatusOr<PointRow> point = TakePoint(side, frozen, "w.hlo", 2, {}, {});
    EXPECT_TRUE(point.ok()) << point.status();
    return point.ok() ? *point : PointRow();
  }

  std::string folder_;
};

constexpr char kMedian[] = R"("run_seconds":{"median":TIME})";

TEST_F(PairsOfPoints, PairsThatAgreeAreEnough) {
  const Side ours = Pretender("ours", "2.0 2.004", kMedian),
             frozen = Pretender("old", "1", kMedian);
  EXPECT_NEAR(Take(ours, frozen).measures["ratio"], 2.002, 1e-9);
  EXPECT_EQ(CallsOf(ours), 2);
}

TEST_F(PairsOfPoints, PairsThatDisagreeAreFollowedByMore) {
  const Side ours = Pretender("ours", "2.6 2 2 2 2.1 2", kMedian);
  const Side frozen = Pretender("old", "1", kMedian);
  EXPECT_NEAR(Take(ours, frozen).measures["ratio"], 2, 0.01);
  EXPECT_GT(CallsOf(ours), 2);
  EXPECT_LE(CallsOf(ours), 6);
  EXPECT_EQ(CallsOf(ours), CallsOf(frozen));
}

TEST_F(PairsOfPoints, CalmRunsAreComparedWhereBothTellThem) {
  constexpr char kBoth[] = R"("run_seconds":{"median":9},"calm_run_seconds":TIME)";
  const Side ours = Pretender("ours", "2", kBoth), frozen = Pretender("frozen", "1", kBoth);
  PointRow point = Take(ours, frozen);
  EXPECT_NEAR(point.measures["ratio"], 2, 1e-9);
  EXPECT_NEAR(point.measures["run_seconds"], 9, 1e-9);
  // A frozen program of before that knows no calm runs: medians against medians.
  EXPECT_NEAR(Take(ours, Pretender("old", "3", kMedian)).measures["ratio"], 3, 1e-9);
}

}  // namespace
}  // namespace assay
