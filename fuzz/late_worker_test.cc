// When a late worker is waited for, killed, and given up.
#include "fuzz/late_worker.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

using Step = LateWorker::Step;

TEST(LateWorker, IsKilledAtItsDeadlineUnlessItStarved) {
  LateWorker worker{.deadline = 100, .seconds = 10};
  EXPECT_EQ(worker.NextStep(99), Step::kWait);
  EXPECT_EQ(worker.NextStep(100), Step::kKill);
  worker.waited = 6;
  EXPECT_EQ(worker.NextStep(100), Step::kWait) << "it had the processor for less than half";
  EXPECT_EQ(worker.NextStep(129), Step::kWait);
  EXPECT_EQ(worker.NextStep(131), Step::kKill) << "but not for ever";
}

// A worker of a batch that starved is killed minutes after its deadline: it has a minute from then
// on, as any other.
TEST(LateWorker, HasAMinuteToDieFromWhenItWasKilled) {
  LateWorker worker{.deadline = 100, .seconds = 100, .waited = 90};
  EXPECT_EQ(worker.NextStep(390), Step::kWait);
  EXPECT_EQ(worker.NextStep(401), Step::kKill);
  worker.killed = true;
  worker.killed_at = 401;
  EXPECT_EQ(worker.NextStep(402), Step::kWait);
  EXPECT_EQ(worker.NextStep(460), Step::kWait);
  EXPECT_EQ(worker.NextStep(462), Step::kGiveUp);
}

}  // namespace
}  // namespace assay
