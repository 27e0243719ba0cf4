// Rank tests against values worked by hand, the detector on planted steps, alerts over a store, and
// causes of texts that differ.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <random>

#include "bench/tracking/change_points.h"
#include "bench/tracking/proof/proof.h"
#include "bench/tracking/rank_tests.h"
#include "bench/tracking/side.h"
#include "bench/tracking/watch.h"
#include "bench/tracking/why.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

TEST(RankTests, SignedRanksAreExactForFewValues) {
  // All five above: 2 of 32 sign patterns are as uneven.
  EXPECT_NEAR(SignedRankP({1, 2, 3, 4, 5}), 2.0 / 32, 1e-12);
  // The sum of negative ranks is 1: the patterns with sum 0 or 1, on both sides.
  EXPECT_NEAR(SignedRankP({-1, 2, 3, 4, 5}), 4.0 / 32, 1e-12);
  EXPECT_EQ(SignedRankP({}), 1);
}

TEST(RankTests, WelchAgreesWithTables) {
  // t = 2.2361 with 4 degrees of freedom would be p = 0.089; here both samples have variance 1.
  const double p = WelchP({1, 2, 3}, {2, 3, 4});
  EXPECT_NEAR(p, 0.2879, 0.001);  // t = 1.2247, 4 degrees of freedom
}

TEST(RankTests, HolmStepsDown) {
  const std::vector<double> p = HolmAdjusted({0.01, 0.04, 0.03});
  EXPECT_NEAR(p[0], 0.03, 1e-12);
  EXPECT_NEAR(p[2], 0.06, 1e-12);
  EXPECT_NEAR(p[1], 0.06, 1e-12);
}

TEST(RankTests, DecidesFasterSlowerSameAndOpen) {
  PairedSamples slower{"slower", {}, {}, 1}, same{"same", {}, {}, 1}, open{"open", {}, {}, 1};
  for (int i = 0; i < 20; ++i) {
    const double wobble = 1 + 0.002 * (i % 5), rough = i % 2 == 0 ? 1.5 : 0.7;
    slower.a.push_back(wobble);
    slower.b.push_back(1.1 * wobble * (i % 3 == 0 ? 1.01 : 1));
    same.a.push_back(wobble);
    same.b.push_back(wobble * (i % 2 == 0 ? 1.001 : 0.999));
    open.a.push_back(1);
    open.b.push_back(rough);
  }
  const std::vector<Comparison> results = Compare({slower, same, open}, 0.05);
  EXPECT_EQ(results[0].change, Change::kSlower);
  EXPECT_EQ(results[1].change, Change::kSame);
  EXPECT_EQ(results[2].change, Change::kUndecided);
}

TEST(ChangePoints, ExactStepsAreFoundAtThePointItself) {
  std::vector<double> values(30, 1000);
  for (size_t i = 17; i < values.size(); ++i) values[i] = 1010;
  const std::vector<ChangePoint> steps = FindSteps(values);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].at, 17u);
  EXPECT_TRUE(FindSteps(std::vector<double>(30, 5)).empty());
}

// The quick form of the proof in docs/performance-tracking.md: drawn noise only.
TEST(ChangePoints, PlantedStepsAreFoundAndNoiseIsNot) {
  int64_t false_alarms = 0, points = 0;
  for (const ProofRow& row : ProveDetector({}, 6, 60, 7)) {
    const ProofRule& ours = row.rules[0];
    if (row.step == 0) {
      false_alarms += ours.false_alarms;
      points += ours.points;
    }
    // If one point in twenty is an outlier of up to a dozen per cent, a step of 10 % is seen
    // within three points four times in five only.
    if (row.step >= 0.1) {
      EXPECT_GE(ours.found * 100, ours.planted * 90) << row.noise << " " << row.step;
    }
    if (row.step >= 0.2) {
      EXPECT_GE(ours.found_in_time * 100, ours.planted * 90) << row.noise << " " << row.step;
    }
  }
  EXPECT_LE(false_alarms * 1000, points * 3) << false_alarms << " of " << points;
}

PointRow At(int64_t time, double ratio, const std::string& code, const std::string& decisions) {
  PointRow point;
  point.id = time;
  point.workload = "gemm";
  point.subject = "cpu";
  point.commit = "c" + std::to_string(time);
  point.taken_ms = time;
  // The interval moves with the time that it is of: it is no measure to alarm by.
  point.measures = {
      {"ratio", ratio}, {"ratio.lower", ratio * 0.99}, {"kernels", decisions.empty() ? 4.0 : 2.0}};
  point.texts = {{"code", code}, {"decisions", decisions}, {"hlo", "same"}};
  return point;
}

TEST(Watch, NamesTheRuleAndNeverBlamesTheSameCode) {
  const std::string path = testing::TempDir() + "/assay_tracking_test/assay.db";
  std::filesystem::remove_all(std::filesystem::path(path).parent_path());
  auto store = Store::Open(path);
  ASSERT_TRUE(store.ok()) << store.status();
  std::vector<PointRow> points;
  for (int64_t i = 0; i < 40; ++i) {
    const double wobble = 1 + 0.001 * static_cast<double>(i * 7 % 5);
    // The machine slows down at point 12 with the same code; the fusion is lost at point 27.
    const double level = i < 12 ? 1 : i < 27 ? 1.08 : 1.3;
    points.push_back(At(i, level * wobble, i < 27 ? "1" : "2",
                        i < 27 ? "kernel fuse-loop 7\nrewrite trivial-reshape 1\n" : ""));
  }
  ASSERT_TRUE((*store)->AddPoints(points).ok());
  auto loaded = (*store)->Points();
  ASSERT_TRUE(loaded.ok());
  ASSERT_EQ(loaded->size(), 40u);
  const Watched watched =
      Watch(SeriesOf(*loaded), [&](const std::string& hash) { return (*store)->Text(hash); });
  ASSERT_EQ(watched.groups.size(), 1u);
  EXPECT_EQ(watched.groups[0].commit_after, "c27");
  EXPECT_NE(watched.groups[0].sentence.find("no longer fires"), std::string::npos)
      << watched.groups[0].sentence;
  EXPECT_EQ(watched.groups[0].alerts.size(), 2u);  // the ratio and the number of kernels
  ASSERT_EQ(watched.machine.size(), 1u);
  EXPECT_TRUE(watched.machine[0].cause.is_same_code);
}

// A step needs less to be seen where the code changed; code that changed without a step is none.
TEST(Watch, KnowsWhereTheCodeChanged) {
  std::mt19937 random(3);
  const auto draw = [&](double step, size_t at) {
    std::vector<PointRow> points;
    for (size_t i = 0; i < 40; ++i) {
      double noise = -6;
      for (int k = 0; k < 12; ++k) noise += static_cast<double>(random() % 10000) / 10000;
      points.push_back(At(static_cast<int64_t>(i), (1 + 0.01 * noise) * (i >= at ? 1 + step : 1),
                          StrCat(i / 10), ""));
      points.back().hashes = {{"code", points.back().texts["code"]}};
    }
    return points;
  };
  const auto text = [](const std::string&) -> absl::StatusOr<std::string> {
    return absl::NotFoundError("");
  };
  int found = 0, in_time = 0, false_alarms = 0;
  for (int i = 0; i < 100; ++i) {
    false_alarms += static_cast<int>(Watch({draw(0, 40)}, text).groups.size());
    const std::vector<PointRow> points = draw(0.05, 20);
    for (const AlertGroup& group : Watch({points}, text).groups) {
      found += group.commit_after == "c20" ? 1 : 0;
    }
    const std::vector<PointRow> early(points.begin(), points.begin() + 24);
    for (const AlertGroup& group : Watch({early}, text).groups) {
      in_time += group.commit_after == "c20" ? 1 : 0;
    }
  }
  EXPECT_GE(found, 99);
  EXPECT_GE(in_time, 95);
  EXPECT_LE(false_alarms, 5) << "of 4,000 points, 300 of which have other code";
}

TEST(Why, FindsWhatDiffers) {
  const Made plain = {{"hlo", "a = f32[2]{0} add(b, c)\n"},
                      {"plan", "fusion | nests: linear by 16\n"},
                      {"decisions", "kernel fuse-loop 2\n"},
                      {"code", "1"}};
  Made other = plain;
  EXPECT_TRUE(Explain(plain, other).is_same_code);
  other["code"] = "2";
  EXPECT_EQ(Explain(plain, other).key, "code generation");
  other["plan"] = "fusion | nests: one by one\n";
  EXPECT_EQ(Explain(plain, other).key, "kernel form");
  other["hlo"] = "a = f32[2]{0} add(b, c)\nd = f32[2]{0} copy(a)\n";
  EXPECT_EQ(Explain(plain, other).key, "op copy");
  other["decisions"] = "kernel fuse-loop 1\n";
  EXPECT_EQ(Explain(plain, other).key, "rule fuse-loop");
}

// Differences behind the pass at which two sides part may be its consequences.
TEST(Why, BlamesThePassAtWhichTheSidesPart) {
  const Made plain = {{"hlo", "a = f32[2]{0} add(b, c)\n"},
                      {"decisions", "rewrite fold 9\nrewrite inline-call 1\n"},
                      {"passes", "simplify 2 fold\ninliner 1 inline-call\nsimplify 7 fold\n"},
                      {"code", "1"}};
  Made other = plain;
  other["code"] = "2";
  other["decisions"] = "rewrite fold 2\n";
  other["passes"] = "simplify 2 fold\n";
  EXPECT_EQ(Explain(plain, other).key, "rule inline-call");
  // A pass without rules of its own that goes, comes, or does something else.
  const Made plain_dce = {{"hlo", "x"},
                          {"decisions", "rewrite fold 9\n"},
                          {"passes", "dce 0 \nsimplify 9 fold\n"},
                          {"code", "1"}};
  Made without = plain_dce;
  without["code"] = "2";
  without["decisions"] = "rewrite fold 4\n";
  without["passes"] = "simplify 4 fold\n";
  EXPECT_EQ(Explain(plain_dce, without).key, "pass dce");
  EXPECT_EQ(Explain(without, plain_dce).sentence, "the pass dce changes the module now");
  Made less = plain_dce;
  less["code"] = "3";
  less["decisions"] = "rewrite fold 4\n";
  less["passes"] = "dce 0 \nsimplify 4 fold\n";
  EXPECT_EQ(Explain(plain_dce, less).key, "rule fold");
}

TEST(Command, EndsWhatTakesTooLongAndTellsStatuses) {
  auto ran = RunCommand({"/bin/sh", "-c", "echo out; echo err >&2; exit 3"}, 20);
  ASSERT_TRUE(ran.ok()) << ran.status();
  EXPECT_EQ(ran->out, "out\n");
  EXPECT_EQ(ran->err, "err\n");
  EXPECT_EQ(ran->status, 3);
  EXPECT_TRUE(absl::IsDeadlineExceeded(RunCommand({"sleep", "30"}, 0.3).status()));
}

TEST(Frozen, RefusesAChangedProgram) {
  const std::string folder = testing::TempDir() + "/assay_frozen_test";
  std::filesystem::remove_all(folder);
  auto hash = Freeze("/bin/true", folder);
  ASSERT_TRUE(hash.ok()) << hash.status();
  EXPECT_TRUE(FrozenProgram(*hash, folder).ok());
  FILE* file = std::fopen((folder + "/" + *hash).c_str(), "a");
  std::fputs("x", file);
  std::fclose(file);
  EXPECT_TRUE(absl::IsDataLoss(FrozenProgram(*hash, folder).status()));
}

// A writer is killed in the middle, again and again: what it said was stored is there.
TEST(Points, NothingAcknowledgedIsLostWhenAWriterIsKilled) {
  const std::string path = testing::TempDir() + "/assay_kill_test/assay.db";
  std::filesystem::remove_all(std::filesystem::path(path).parent_path());
  ASSERT_TRUE(Store::Open(path).ok());
  int64_t acknowledged = 0;
  for (int round = 0; round < 20; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      auto store = Store::Open(path);
      for (int64_t i = 0; store.ok(); ++i) {
        if (!(*store)->AddPoints({At(i, 1, "1", "")}).ok()) break;
        if (write(ends[1], "+", 1) != 1) break;
      }
      _exit(1);
    }
    close(ends[1]);
    char said;
    for (int i = 0; i < 1 + round % 4 && read(ends[0], &said, 1) == 1; ++i) ++acknowledged;
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    while (read(ends[0], &said, 1) == 1) ++acknowledged;
    close(ends[0]);
  }
  auto store = Store::Open(path);
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_TRUE((*store)->Check().ok());
  auto points = (*store)->Points();
  ASSERT_TRUE(points.ok());
  EXPECT_GE(static_cast<int64_t>(points->size()), acknowledged);
  // At most one more per round: stored, and killed before it could say so.
  EXPECT_LE(static_cast<int64_t>(points->size()), acknowledged + 20);
}

}  // namespace
}  // namespace assay
