// The search for the first bad version, and programs of commits of a small repository.
#include "bench/tracking/bisection.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "bench/tracking/commits.h"
#include "spec/base/file.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

// Every length, place of the change and, by chance, set of versions that cannot be built.
TEST(Bisect, FindsTheFirstBadOneAmongThoseThatCanBeAsked) {
  std::mt19937 random(5);
  for (int round = 0; round < 3000; ++round) {
    const size_t count = 2 + random() % 40;
    const size_t first_bad = 1 + random() % (count - 1);
    std::vector<bool> is_broken(count, false);
    size_t broken = 0;
    for (size_t i = 1; i + 1 < count; ++i) {
      is_broken[i] = random() % 4 == 0;
      broken += is_broken[i] ? 1 : 0;
    }
    size_t asked = 0;
    const absl::StatusOr<Bisection> found =
        Bisect(count, [&](size_t at) -> absl::StatusOr<SideVerdict> {
          EXPECT_GT(at, 0u);
          EXPECT_LT(at, count - 1);
          ++asked;
          if (is_broken[at]) return SideVerdict::kSkip;
          return at >= first_bad ? SideVerdict::kBad : SideVerdict::kGood;
        });
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_LT(found->good, first_bad);
    EXPECT_GE(found->bad, first_bad);
    for (size_t i = found->good + 1; i < found->bad; ++i) EXPECT_TRUE(is_broken[i]);
    EXPECT_LE(found->skipped.size(), broken);
    const double halvings = std::ceil(std::log2(static_cast<double>(count)));
    // Halves are uneven where something was skipped.
    if (found->skipped.empty()) {
      EXPECT_LE(asked, static_cast<size_t>(halvings));
    }
  }
}

TEST(Bisect, AnErrorEndsIt) {
  int asked = 0;
  const absl::StatusOr<Bisection> found = Bisect(9, [&](size_t) -> absl::StatusOr<SideVerdict> {
    ++asked;
    return absl::DeadlineExceededError("late");
  });
  EXPECT_TRUE(absl::IsDeadlineExceeded(found.status()));
  EXPECT_EQ(asked, 1);
  EXPECT_FALSE(Bisect(1, [](size_t) { return SideVerdict::kBad; }).ok());
}

// A repository of three commits, the second of which does not build, as the current folder.
class CommitsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / "assay_commits_test";
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    before_ = fs::current_path();
    fs::current_path(folder_);
    ASSERT_EQ(std::system("git init -q . && git config user.email a@b && git config user.name a"),
              0);
    for (const char* text : {"echo one", "exit 1", "echo three"}) {
      std::ofstream("say") << text << "\n";
      ASSERT_EQ(std::system("git add say && git commit -q -m next"), 0);
    }
  }
  void TearDown() override { fs::current_path(before_); }

  fs::path folder_, before_;
};

TEST_F(CommitsTest, EachIsBuiltOnceInAWorktree) {
  const absl::StatusOr<std::vector<std::string>> commits = CommitsBetween("HEAD~2", "HEAD");
  ASSERT_TRUE(commits.ok()) << commits.status();
  ASSERT_EQ(commits->size(), 3u);
  std::vector<std::string> told;
  // A program says what its commit's file says; that it builds is the file's status.
  const CommitBuilds builds{(folder_ / "cache").string(),
                            "echo build >> ../builds; sh say > /dev/null && cp say \"$PROGRAM\"",
                            [&](const std::string& text) { told.push_back(text); }};
  const absl::StatusOr<std::string> first = ProgramOfCommit("HEAD~2", builds);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(*ReadFile(*first), "echo one\n");
  EXPECT_EQ(told.size(), 2u);
  EXPECT_EQ(*ProgramOfCommit((*commits)[0], builds), *first);
  const absl::StatusOr<std::string> second = ProgramOfCommit("HEAD~1", builds);
  EXPECT_TRUE(absl::IsUnavailable(second.status())) << second.status();
  EXPECT_EQ(*ReadFile(*ProgramOfCommit("HEAD", builds)), "echo three\n");
  EXPECT_EQ(*ReadFile((folder_ / "cache" / "builds").string()), "build\nbuild\nbuild\n");
  // The folder itself stays as the user has it.
  EXPECT_EQ(*ReadFile("say"), "echo three\n");
}

TEST_F(CommitsTest, RangesLeadForward) {
  EXPECT_TRUE(absl::IsInvalidArgument(CommitsBetween("HEAD", "HEAD~1").status()));
  EXPECT_TRUE(absl::IsNotFound(CommitsBetween("HEAD", "no-such-name").status()));
  EXPECT_EQ(CommitsBetween("HEAD", "HEAD")->size(), 1u);
}

}  // namespace
}  // namespace assay
