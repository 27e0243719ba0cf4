// A run has the CPU time that it was given, whatever else the machine does.
#include "reference/values/deadline.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <ctime>
#include <thread>

#include "spec/process/interrupt.h"

namespace assay::reference {
namespace {

constexpr int64_t kMuchWork = int64_t{1} << 20;

void Compute(double seconds) {
  const std::clock_t end = std::clock() + static_cast<std::clock_t>(seconds * CLOCKS_PER_SEC);
  while (std::clock() < end) {
  }
}

TEST(Deadline, CountsWhatARunComputesAndNotWhatItWaits) {
  Deadline deadline(0.05);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_FALSE(deadline.IsOver(kMuchWork));
  Compute(0.03);
  EXPECT_FALSE(deadline.IsOver(kMuchWork));
  Compute(0.05);
  EXPECT_TRUE(deadline.IsOver(kMuchWork));
  EXPECT_TRUE(deadline.is_over());
  EXPECT_FALSE(deadline.is_interrupted());
}

TEST(Deadline, AddsUpTheTimeOfTheThreadsOfItsRun) {
  Deadline deadline(0.05);
  bool is_over = false;
  for (int device = 0; device < 2; ++device) {
    EXPECT_FALSE(is_over);
    std::thread([&] {
      Compute(0.04);
      is_over = deadline.IsOver(kMuchWork);
    }).join();
  }
  EXPECT_TRUE(is_over);
}

TEST(Deadline, ComesWithAnInterruptOfAGuardThatEndsEvaluations) {
  for (const bool ends : {false, true}) {
    const InterruptGuard guard(ends);
    Deadline deadline(60);
    EXPECT_FALSE(deadline.IsOver(kMuchWork));
    std::raise(SIGINT);
    EXPECT_EQ(deadline.IsOver(kMuchWork), ends);
    EXPECT_EQ(deadline.is_interrupted(), ends);
  }
}

}  // namespace
}  // namespace assay::reference
