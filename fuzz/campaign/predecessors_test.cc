// The search for what has to run before a suspect, on histories whose culprits are known.
#include "fuzz/campaign/predecessors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

namespace assay {
namespace {

constexpr int64_t kSuspect = 57;

Rounds TwoRounds(int64_t size) {
  Rounds rounds(2);
  for (int64_t i = 0; i < size; ++i) rounds[0].push_back(i);
  for (int64_t i = size; i < 2 * size; ++i) rounds[1].push_back(i);
  return rounds;
}

bool Holds(const Rounds& rounds, int64_t index) {
  return std::any_of(rounds.begin(), rounds.end(), [index](const std::vector<int64_t>& round) {
    return std::find(round.begin(), round.end(), index) != round.end();
  });
}

struct Searched {
  bool repeats = false;
  std::vector<int64_t> needed;
  int64_t trials = 0;
  int64_t programs = 0;  // that all trials ran
};

Searched Search(Rounds rounds, const std::function<bool(const Rounds&)>& fails,
                const std::vector<std::set<int64_t>>& likely = {}) {
  Predecessors search(std::move(rounds), kSuspect, likely);
  Searched result;
  while (!search.IsOver()) {
    const Rounds trial = search.Trial();
    EXPECT_TRUE(Holds(trial, kSuspect)) << "the suspect is in every trial";
    for (const std::vector<int64_t>& round : trial) {
      result.programs += static_cast<int64_t>(round.size());
    }
    search.Take(fails(trial));
    if (++result.trials > 100) break;
  }
  result.repeats = search.Repeats();
  result.needed = search.Needed();
  return result;
}

TEST(Predecessors, FindsTheOneThatIsToBlameWhereverItStands) {
  for (int64_t culprit = 0; culprit < 120; ++culprit) {
    if (culprit == kSuspect) continue;
    const Searched found =
        Search(TwoRounds(60), [culprit](const Rounds& trial) { return Holds(trial, culprit); });
    EXPECT_TRUE(found.repeats);
    EXPECT_EQ(found.needed, std::vector<int64_t>{culprit});
    EXPECT_LE(found.trials, 20);
    EXPECT_LE(found.programs, 3.2 * 120);
  }
}

TEST(Predecessors, FindsTwoThatAreNeededTogether) {
  const Searched found = Search(
      TwoRounds(60), [](const Rounds& trial) { return Holds(trial, 3) && Holds(trial, 110); });
  EXPECT_TRUE(found.repeats);
  EXPECT_EQ(found.needed, (std::vector<int64_t>{3, 110}));
  EXPECT_LE(found.programs, 10 * 120);
}

// What is likely is tried at first. Where it is not to blame nothing is lost but a trial.
TEST(Predecessors, TriesAtFirstWhatIsLikely) {
  const auto fails = [](const Rounds& trial) { return Holds(trial, 30); };
  const Searched known = Search(TwoRounds(60), fails, {{7, 30, 100, 5000}});
  EXPECT_TRUE(known.repeats);
  EXPECT_EQ(known.needed, std::vector<int64_t>{30});
  EXPECT_LE(known.programs, 20);
  const Searched other = Search(TwoRounds(60), fails, {{7, 100}});
  EXPECT_TRUE(other.repeats);
  EXPECT_EQ(other.needed, std::vector<int64_t>{30});
  EXPECT_LE(other.programs, 3.2 * 120 + 3);
  const Searched elsewhere = Search(TwoRounds(60), fails, {{5000}});
  EXPECT_EQ(elsewhere.needed, std::vector<int64_t>{30});
  EXPECT_EQ(elsewhere.programs, Search(TwoRounds(60), fails).programs);
  const Searched second = Search(TwoRounds(60), fails, {{7, 100}, {30, 31}});
  EXPECT_EQ(second.needed, std::vector<int64_t>{30});
  EXPECT_LE(second.programs, 20);
}

TEST(Predecessors, SaysWhereTheSuspectsOwnRunsDo) {
  const Searched found = Search(TwoRounds(60), [](const Rounds&) { return true; });
  EXPECT_TRUE(found.repeats);
  EXPECT_TRUE(found.needed.empty());
  EXPECT_LE(found.trials, 3);
}

TEST(Predecessors, EndsAtOnceWhereTheHistoryDoesNotRepeat) {
  const Searched found = Search(TwoRounds(60), [](const Rounds&) { return false; });
  EXPECT_FALSE(found.repeats);
  EXPECT_EQ(found.trials, 1);
}

// It failed in its whole history, and then no more: nothing is said of what is to blame.
TEST(Predecessors, WhatFailsOnceIsNoEvidence) {
  int64_t trials = 0;
  const Searched found = Search(TwoRounds(60), [&trials](const Rounds&) { return ++trials == 1; });
  EXPECT_FALSE(found.repeats);
  EXPECT_LE(found.programs, 4 * 120) << "the history is asked again before its parts are";
}

TEST(Predecessors, AllOfItMayBeNeeded) {
  const Searched found = Search(TwoRounds(60), [](const Rounds& trial) {
    return trial.size() == 2 && trial[0].size() + trial[1].size() == 120;
  });
  EXPECT_TRUE(found.repeats);
  EXPECT_EQ(found.needed.size(), 119U);
  EXPECT_LE(found.programs, 11 * 120);
}

TEST(Predecessors, KeepsTheRoundsApart) {
  Predecessors search({{1, 2}, {kSuspect, 4}}, kSuspect);
  EXPECT_EQ(search.Trial(), (Rounds{{1, 2}, {kSuspect, 4}}));
  search.Take(true);
  EXPECT_EQ(search.Trial(), (Rounds{{kSuspect}}));
  search.Take(false);
  EXPECT_EQ(search.Trial(), (Rounds{{kSuspect, 4}})) << "the first half is left out";
}

TEST(Predecessors, ASuspectWithoutHistoryIsRunTwice) {
  const Searched found = Search({{kSuspect}}, [](const Rounds&) { return true; });
  EXPECT_TRUE(found.repeats);
  EXPECT_EQ(found.trials, 2);
}

}  // namespace
}  // namespace assay
