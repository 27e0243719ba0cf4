// The child process of RunIsolated, and how it is watched.
#include "spec/process/isolate.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "spec/base/clock.h"
#include "spec/process/cpu_time.h"
#include "spec/process/interrupt.h"

namespace assay {
namespace {

constexpr int64_t kStderrTail = 4096;

// Address-space limits and the shadow memory of the sanitizers exclude each other.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

void ExitForMemory() { _exit(kOutOfMemoryExit); }

int64_t AddressSpaceBytes() {
  FILE* statm = std::fopen("/proc/self/statm", "r");
  if (statm == nullptr) return 0;
  long long pages = 0;
  int got = std::fscanf(statm, "%lld", &pages);
  std::fclose(statm);
  return got == 1 ? pages * sysconf(_SC_PAGESIZE) : 0;
}

bool WriteAll(int fd, const std::string& bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t n = write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

// The child's frame on the pipe is 'R' + bytes; its absence tells a child that exited early from
// one that returned "".
[[noreturn]] void RunChild(const std::function<std::string()>& function,
                           const IsolateLimits& limits, int out, int err) {
  if (err >= 0) dup2(err, STDERR_FILENO);
  ConfineThisProcess(limits.memory_bytes);
  // A terminal sends SIGINT to all processes of a run, and timeout(1) SIGTERM; it is the caller who
  // decides what ends.
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  std::string bytes = function();
  bool written = WriteAll(out, "R") && WriteAll(out, bytes);
  _exit(written ? 0 : 1);
}

// The time that a child has left: what it waits for a core does not count, up to some times as much
// as it may compute.
class TimeLeft {
 public:
  TimeLeft(pid_t pid, double start, double seconds)
      : time_(pid), last_(start + kMostTimesAsLong * seconds), seconds_(seconds) {}
  // Not less than what is left.
  double Seconds() const { return std::min(seconds_ - time_.Seconds(), last_ - Now()); }

 private:
  static constexpr double kMostTimesAsLong = 12;
  TimeOfProcess time_;
  double last_, seconds_;
};

// Reads until end of file, the end of the time or, if asked for, an interrupt; true at end of file.
bool ReadUntil(int fd, const TimeLeft& time, bool ends_on_interrupt, std::string& bytes) {
  char buffer[65536];
  while (true) {
    if (ends_on_interrupt && InterruptRequested()) return false;
    double left = time.Seconds();
    if (left <= 0) return false;
    pollfd poll_fd{fd, POLLIN, 0};
    // A signal that comes right before the call does not end it.
    constexpr double kLook = 0.1;
    if (ends_on_interrupt) left = std::min(left, kLook);
    int ready = poll(&poll_fd, 1, static_cast<int>(left * 1000) + 1);
    if (ready < 0 && errno != EINTR) return true;
    if (ready <= 0) continue;
    ssize_t n = read(fd, buffer, sizeof(buffer));
    if (n == 0) return true;
    if (n > 0) bytes.append(buffer, static_cast<size_t>(n));
    if (n < 0 && errno != EINTR && errno != EAGAIN) return true;
  }
}

// Waits for `pid` until its time is over; false if it is still alive then.
bool WaitUntil(pid_t pid, const TimeLeft& time, int& status) {
  for (int pause_us = 50;; pause_us = pause_us < 5000 ? pause_us * 2 : 5000) {
    pid_t got = waitpid(pid, &status, WNOHANG);
    if (got == pid || (got < 0 && errno != EINTR)) return true;
    if (time.Seconds() <= 0) return false;
    usleep(static_cast<useconds_t>(pause_us));
  }
}

}  // namespace

std::string ReadTail(int fd) {
  off_t size = lseek(fd, 0, SEEK_END);
  if (size <= 0) return "";
  off_t from = size > kStderrTail ? size - kStderrTail : 0;
  std::string tail(static_cast<size_t>(size - from), '\0');
  ssize_t n = pread(fd, tail.data(), tail.size(), from);
  tail.resize(n > 0 ? static_cast<size_t>(n) : 0);
  return tail;
}

void ConfineThisProcess(int64_t memory_bytes) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  std::set_new_handler(ExitForMemory);
  if (memory_bytes > 0 && !kSanitized) {
    rlim_t bytes = static_cast<rlim_t>(AddressSpaceBytes() + memory_bytes);
    rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_AS, &limit);
  }
}

Isolated EndOfProcess(int wait_status, std::string stderr_tail, bool timed_out) {
  Isolated result;
  if (timed_out) {
    result.end = Isolated::End::kTimeout;
  } else if (WIFEXITED(wait_status)) {
    result.code = WEXITSTATUS(wait_status);
    result.end =
        result.code == kOutOfMemoryExit ? Isolated::End::kOutOfMemory : Isolated::End::kExited;
  } else {
    result.signal = WTERMSIG(wait_status);
    // A SIGKILL that we did not send is the kernel's answer to an exhausted machine; LLVM reports a
    // failed malloc and aborts.
    const bool starved = result.signal == SIGKILL ||
                         absl::StrContains(absl::AsciiStrToLower(stderr_tail), "out of memory") ||
                         absl::StrContains(stderr_tail, "bad_alloc");
    result.end = starved ? Isolated::End::kOutOfMemory : Isolated::End::kSignalled;
  }
  result.stderr_tail = std::move(stderr_tail);
  return result;
}

Isolated RunIsolated(const std::function<std::string()>& function, const IsolateLimits& limits) {
  Isolated result;
  int pipe_fds[2];
  if (pipe2(pipe_fds, O_CLOEXEC) != 0) {
    result.stderr_tail = absl::StrCat("pipe: ", std::strerror(errno));
    return result;
  }
  int err = memfd_create("assay-stderr", MFD_CLOEXEC);
  std::fflush(stdout);
  std::fflush(stderr);
  double start = Now();
  pid_t pid = fork();
  if (pid == 0) {
    close(pipe_fds[0]);
    RunChild(function, limits, pipe_fds[1], err);
  }
  close(pipe_fds[1]);
  if (pid < 0) {
    result.stderr_tail = absl::StrCat("fork: ", std::strerror(errno));
  } else {
    const TimeLeft time(pid, start, limits.seconds);
    std::string frame;
    int status = 0;
    bool in_time = ReadUntil(pipe_fds[0], time, limits.ends_on_interrupt, frame) &&
                   WaitUntil(pid, time, status);
    if (!in_time) {
      kill(pid, SIGKILL);
      while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
      }
    }
    result = EndOfProcess(status, err >= 0 ? ReadTail(err) : "", !in_time);
    if (result.end == Isolated::End::kExited && result.code == 0 && !frame.empty()) {
      result.end = Isolated::End::kReturned;
      result.bytes = frame.substr(1);
    }
  }
  result.seconds = Now() - start;
  close(pipe_fds[0]);
  if (err >= 0) close(err);
  return result;
}

std::string SignalName(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? absl::StrCat("SIG", name) : absl::StrCat("signal ", signal);
}

std::string Isolated::Describe() const {
  std::string how;
  switch (end) {
    case End::kReturned:
      return absl::StrCat("returned ", bytes.size(), " bytes");
    case End::kExited:
      how = absl::StrCat("left by exit(", code, ")");
      break;
    case End::kSignalled:
      how = absl::StrCat("died of ", SignalName(signal));
      break;
    case End::kTimeout:
      how = absl::StrCat("still running after ", seconds, " s");
      break;
    case End::kOutOfMemory:
      how = "ran out of memory";
      break;
    case End::kSickMachine:
      how = "could not be started";
      break;
  }
  std::string first_line = stderr_tail.substr(0, stderr_tail.find('\n'));
  return first_line.empty() ? how : absl::StrCat(how, ": ", first_line);
}

}  // namespace assay
