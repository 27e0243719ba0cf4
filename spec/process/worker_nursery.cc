// Starts the forking process and hands it descriptors.
#include "spec/process/worker_nursery.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "spec/base/clock.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/process/cpu_time.h"
#include "spec/process/interrupt.h"

extern char** environ;

namespace assay {
namespace {

constexpr double kForkSeconds = 20;

absl::Status Sick(std::string_view what) {
  return MakeError(ErrorClass::kSickMachine, StrCat("worker nursery: ", what));
}

bool IsReadable(int fd, double seconds) {
  const double until = Now() + seconds;
  while (true) {
    pollfd wait{fd, POLLIN, 0};
    const int left = static_cast<int>(std::max(0.0, until - Now()) * 1000);
    const int got = poll(&wait, 1, left);
    if (got > 0) return true;
    if (got == 0 || errno != EINTR) return false;
  }
}

// Waits until the process at the other end has had so many seconds.
bool IsReadableInTimeOf(pid_t pid, int fd, double seconds) {
  const TimeOfProcess time(pid);
  constexpr double kLook = 0.2;
  for (double left = seconds; left > 0 && !InterruptRequested(); left = seconds - time.Seconds()) {
    if (IsReadable(fd, std::min(left, kLook))) return true;
  }
  return false;
}

// One message of a byte with the descriptors.
bool SendDescriptors(int socket, const std::array<int, 4>& descriptors) {
  char byte = 'f';
  iovec data{&byte, 1};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(descriptors))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof(space);
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(descriptors));
  std::memcpy(CMSG_DATA(header), descriptors.data(), sizeof(descriptors));
  return sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

}  // namespace

WorkerNursery::WorkerNursery(std::vector<std::string> argv) : argv_(std::move(argv)) {
  argv_.emplace_back("--fork-server");
}

WorkerNursery::~WorkerNursery() {
  if (control_ >= 0) close(control_);
  if (pid_ <= 0 || owner_ != getpid()) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

absl::Status WorkerNursery::Start(double seconds) {
  Launch();
  if (!std::exchange(awaited_, true) && started_.ok()) started_ = AwaitReady(seconds);
  return started_;
}

void WorkerNursery::Launch() {
  if (!std::exchange(launched_, true)) started_ = Spawn();
}

absl::Status WorkerNursery::Spawn() {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
    return Sick(StrCat("socketpair: ", strerror(errno)));
  }
  control_ = pair[0];
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pair[1], 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // A group of its own: the terminal's interrupt is for those who use the workers. No signal is
  // blocked, though one may be here: it learns from SIGCHLD that a worker has ended.
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  // A process that forks must have one thread, and some libraries start theirs when they are
  // loaded.
  std::vector<char*> environment;
  std::string one_thread = "OPENBLAS_NUM_THREADS=1";
  for (char** at = environ; *at != nullptr; ++at) environment.push_back(*at);
  environment.push_back(one_thread.data());
  environment.push_back(nullptr);
  std::vector<char*> argv;
  for (std::string& word : argv_) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int error =
      posix_spawnp(&pid_, argv[0], &actions, &attributes, argv.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(pair[1]);
  owner_ = getpid();
  if (error != 0) {
    pid_ = -1;
    return Sick(StrCat("cannot start '", argv_[0], "': ", strerror(error)));
  }
  return absl::OkStatus();
}

absl::Status WorkerNursery::AwaitReady(double seconds) const {
  if (!IsReadableInTimeOf(pid_, control_, seconds)) {
    return Sick(StrCat("it is not ready after ", seconds, " s of its own"));
  }
  char word[8] = {};
  // The word stays there for the other processes that share the nursery.
  const ssize_t got = recv(control_, word, sizeof(word) - 1, MSG_PEEK);
  return got > 0 && std::string_view(word) == "ready" ? absl::OkStatus()
                                                      : Sick("it cannot load what workers need");
}

bool WorkerNursery::IsOfThisProcess() const { return owner_ == getpid(); }

WorkerNursery::End WorkerNursery::ReadEnd(int report) {
  char bytes[sizeof(int32_t) + sizeof(double)];
  End end;
  if (read(report, &bytes[0], sizeof(bytes)) != sizeof(bytes)) return {SIGKILL, 0};
  std::memcpy(&end.status, &bytes[0], sizeof(end.status));
  std::memcpy(&end.cpu_seconds, &bytes[sizeof(end.status)], sizeof(end.cpu_seconds));
  return end;
}

absl::StatusOr<WorkerNursery::Child> WorkerNursery::Fork(int channel, int errors) {
  if (control_ < 0 || errors < 0) return Sick("it is not there");
  int life[2], report[2];
  if (pipe2(life, O_CLOEXEC) != 0) return Sick(strerror(errno));
  if (pipe2(report, O_CLOEXEC) != 0) {
    close(life[0]);
    close(life[1]);
    return Sick(strerror(errno));
  }
  const bool sent = SendDescriptors(control_, {channel, errors, life[0], report[1]});
  close(life[0]);
  close(report[1]);
  int32_t pid = -1;
  const bool told = sent && IsReadable(report[0], kForkSeconds) &&
                    read(report[0], &pid, sizeof(pid)) == sizeof(pid) && pid > 0;
  if (told) return Child{pid, life[1], report[0]};
  close(life[1]);
  close(report[0]);
  return Sick("it forked no worker");
}

}  // namespace assay
