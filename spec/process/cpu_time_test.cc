// Short processes, whole trees of processes, and none.
#include "spec/process/cpu_time.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>

#include "gtest/gtest.h"

namespace assay {
namespace {

void Compute(double seconds) {
  const auto until = std::clock() + static_cast<std::clock_t>(seconds * CLOCKS_PER_SEC);
  while (std::clock() < until) {
  }
}

// The kernel's ticks have 10 ms.
TEST(CpuTime, IsThatOfAProcessThatIsShorterThanATick) {
  for (int i = 0; i < 10; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      Compute(0.006);
      const bool is_told = CpuSecondsOf(getpid()) > 0.005 && CpuSecondsOfTree(getpid()) > 0.005;
      _exit(is_told ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
}

TEST(CpuTime, OfATreeHasThatOfChildrenThatEndedAndOfThoseThatRun) {
  const double before = CpuSecondsOfTree(getpid());
  const pid_t ended = fork();
  if (ended == 0) {
    Compute(0.05);
    _exit(0);
  }
  ASSERT_EQ(waitpid(ended, nullptr, 0), ended);
  EXPECT_GT(CpuSecondsOfTree(getpid()) - before, 0.02) << "the kernel rounds to ticks, twice";
  int channel[2];
  ASSERT_EQ(pipe(channel), 0);
  const pid_t running = fork();
  if (running == 0) {
    Compute(0.05);
    while (write(channel[1], "x", 1) == 1) pause();
  }
  char byte = 0;
  ASSERT_EQ(read(channel[0], &byte, 1), 1);
  EXPECT_GT(CpuSecondsOfTree(getpid()) - before, 0.069);
  EXPECT_GT(CpuSecondsOf(running), 0.049);
  kill(running, SIGKILL);
  ASSERT_EQ(waitpid(running, nullptr, 0), running);
  close(channel[0]);
  close(channel[1]);
}

TEST(CpuTime, OfNoProcessIsNothing) { EXPECT_EQ(CpuSecondsOf(0x7ffffff0), 0); }

}  // namespace
}  // namespace assay
