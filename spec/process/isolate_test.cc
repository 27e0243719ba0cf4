// Children that return, die, hang and grow.
#include "spec/process/isolate.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "spec/process/cpu_time.h"
#include "spec/process/fork_server.h"
#include "spec/process/interrupt.h"

namespace assay {
namespace {

TEST(IsolateTest, ReturnsBytesOfAnySizeAndNone) {
  EXPECT_EQ(RunIsolated([] { return std::string("a\0b", 3); }, {}).bytes, std::string("a\0b", 3));
  EXPECT_EQ(RunIsolated([] { return std::string(3 << 20, 'x'); }, {}).bytes.size(), 3u << 20);
  Isolated empty = RunIsolated([] { return std::string(); }, {});
  EXPECT_TRUE(empty.ok());
}

TEST(IsolateTest, TellsHowAChildDied) {
  Isolated aborted = RunIsolated(
      []() -> std::string {
        (void)!write(STDERR_FILENO, "it broke\nhere", 13);
        std::abort();
      },
      {});
  EXPECT_EQ(aborted.end, Isolated::End::kSignalled);
  EXPECT_EQ(aborted.signal, SIGABRT);
  EXPECT_EQ(aborted.Describe(), "died of SIGABRT: it broke");

  Isolated left = RunIsolated([]() -> std::string { _exit(3); }, {});
  EXPECT_EQ(left.end, Isolated::End::kExited);
  EXPECT_EQ(left.code, 3);
  Isolated silent = RunIsolated([]() -> std::string { _exit(0); }, {});
  EXPECT_EQ(silent.end, Isolated::End::kExited) << "exit before the answer is not an answer";
}

TEST(IsolateTest, StopsAHangSoonAfterItsTime) {
  Isolated hung = RunIsolated(
      []() -> std::string {
        while (true) pause();
      },
      {.seconds = 0.1});
  EXPECT_EQ(hung.end, Isolated::End::kTimeout);
  EXPECT_LT(hung.seconds, 2.0);
}

TEST(IsolateTest, StopsABlowUp) {
#if defined(__SANITIZE_ADDRESS__)
  // The sanitizer reserves terabytes of addresses: no limit on them can be set that it would
  // survive.
  GTEST_SKIP()
      << "needs a limit on addresses, which AddressSanitizer excludes; the plain build runs it";
#endif
  Isolated starved = RunIsolated(
      []() -> std::string {
        std::vector<std::vector<char>> hoard;
        for (int i = 0; i < 1 << 20; ++i) {
          hoard.emplace_back(1 << 20);
          std::memset(hoard.back().data(), i, 1 << 20);
        }
        return "took everything";
      },
      {.seconds = 20, .memory_bytes = 256 << 20});
  EXPECT_EQ(starved.end, Isolated::End::kOutOfMemory);
}

// Three that compute on one core wait for each other two thirds of the time.
TEST(CpuTimeTest, CountsWhatAProcessWaitsForACore) {
  constexpr int kSpinners = 3;
  constexpr double kSeconds = 0.3;
  std::vector<pid_t> spinners;
  for (int i = 0; i < kSpinners; ++i) {
    const pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(0, &one);
      sched_setaffinity(0, sizeof(one), &one);
      while (true) {
      }
    }
    spinners.push_back(pid);
  }
  usleep(static_cast<useconds_t>(kSeconds * 1e6));
  double waited = 0;
  for (const pid_t pid : spinners) waited += ThreadsWaitedForCpu(pid);
  for (const pid_t pid : spinners) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
  if (WaitedForCpu(getpid()) == 0) GTEST_SKIP() << "this kernel does not count it";
  EXPECT_GT(waited, kSeconds);
  EXPECT_EQ(ThreadsWaitedForCpu(spinners[0]), 0) << "it is gone";
}

// The signal goes to the whole group, as timeout(1) sends it.
TEST(ForkServerTest, ItsTemplateOutlivesASignalToTheGroup) {
  const pid_t pid = fork();
  if (pid == 0) {
    setpgid(0, 0);
    const InterruptGuard guard;
    const auto server = ForkServer::Start([] { return absl::OkStatus(); }, [](int) {});
    kill(0, SIGTERM);
    usleep(100000);  // who dies of it is gone by then
    _exit(server.ok() && InterruptRequested() && (*server)->Spawn().ok() ? 0 : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace assay
