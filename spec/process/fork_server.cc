// The template process and the messages between it and the campaign.
#include "spec/process/fork_server.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>

#include "absl/strings/str_cat.h"
#include "spec/base/error.h"
#include "spec/process/interrupt.h"
#include "spec/process/isolate.h"
#include "spec/process/wire.h"

namespace assay {
namespace {

constexpr char kSpawned = 'S', kExited = 'X', kReady = 'R', kFailed = 'F';

template <typename T>
void Append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}
template <typename T>
T Extract(const std::string& from, size_t at) {
  T value{};
  if (from.size() >= at + sizeof(value)) std::memcpy(&value, from.data() + at, sizeof(value));
  return value;
}

// The template process: once it is warm, it forks a worker for each request.
class Template {
 public:
  // Blocks SIGCHLD: before anything starts a thread, which would take the signal instead of the
  // descriptor that waits for it.
  Template(int control, const ForkServer::Serve& serve) : control_(control), serve_(serve) {
    sigemptyset(&child_);
    sigaddset(&child_, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child_, &old_mask_);
  }

  [[noreturn]] void Run() {
    int signals = signalfd(-1, &child_, SFD_CLOEXEC | SFD_NONBLOCK);
    while (true) {
      pollfd fds[2] = {{control_, POLLIN, 0}, {signals, POLLIN, 0}};
      if (poll(fds, 2, -1) < 0 && errno != EINTR) _exit(1);
      if ((fds[1].revents & POLLIN) != 0) {
        signalfd_siginfo ignored;
        while (read(signals, &ignored, sizeof(ignored)) > 0) {
        }
        Reap();
      }
      if ((fds[0].revents & (POLLIN | POLLHUP)) != 0) Spawn();
    }
  }

 private:
  void Spawn() {
    int fd = -1;
    std::optional<std::string> request = ReceiveMessage(control_, &fd);
    if (!request.has_value()) _exit(0);  // the campaign is gone
    int err = memfd_create("assay-stderr", MFD_CLOEXEC);
    pid_t pid = fork();
    if (pid == 0) {
      sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      close(control_);
      if (err >= 0) dup2(err, STDERR_FILENO);
      serve_(fd);
      _exit(0);
    }
    if (fd >= 0) close(fd);
    if (pid > 0) stderr_of_[pid] = err;
    std::string reply(1, kSpawned);
    Append(reply, static_cast<int32_t>(pid));
    if (!SendMessage(control_, reply)) _exit(0);
  }

  void Reap() {
    int status = 0;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      auto err = stderr_of_.find(pid);
      if (err == stderr_of_.end()) continue;  // a grandchild that was left behind
      std::string report(1, kExited);
      Append(report, static_cast<int32_t>(pid));
      Append(report, static_cast<int32_t>(status));
      if (err->second >= 0) {
        report += ReadTail(err->second);
        close(err->second);
      }
      stderr_of_.erase(err);
      if (!SendMessage(control_, report)) _exit(0);
    }
  }

  int control_;
  const ForkServer::Serve& serve_;
  sigset_t child_, old_mask_;
  std::map<pid_t, int> stderr_of_;
};

[[noreturn]] void RunTemplate(int control, const ForkServer::Warm& warm,
                              const ForkServer::Serve& serve) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Ignores what a terminal, or timeout(1), sends to all processes of a group: the campaign ends
  // its workers itself.
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  Template server(control, serve);
  absl::Status status = warm();
  if (!status.ok()) {
    std::string report(1, kFailed);
    Append(report, static_cast<int32_t>(status.code()));
    Append(report, static_cast<uint8_t>(ClassOf(status)));
    report += std::string(status.message());
    SendMessage(control, report);
    _exit(1);
  }
  if (!SendMessage(control, std::string(1, kReady))) _exit(1);
  server.Run();
}

// True once there is something to read, or the other end is closed; false if an interrupt comes
// first.
bool AwaitsReadable(int fd) {
  constexpr int kLookMilliseconds = 100;
  pollfd wait{fd, POLLIN, 0};
  while (poll(&wait, 1, kLookMilliseconds) <= 0) {
    if (InterruptRequested()) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ForkServer>> ForkServer::Start(const Warm& warm,
                                                              const Serve& serve) {
  auto [mine, theirs] = SocketPair();
  if (mine < 0) {
    return MakeError(ErrorClass::kSickMachine,
                     absl::StrCat("cannot make a socket pair: ", std::strerror(errno)));
  }
  std::fflush(stdout);
  std::fflush(stderr);
  pid_t pid = fork();
  if (pid == 0) {
    close(mine);
    RunTemplate(theirs, warm, serve);
  }
  close(theirs);
  if (pid < 0) {
    close(mine);
    return MakeError(ErrorClass::kSickMachine, absl::StrCat("cannot fork: ", std::strerror(errno)));
  }
  std::unique_ptr<ForkServer> server(new ForkServer(mine, pid));
  if (!AwaitsReadable(mine)) {
    return MakeError(ErrorClass::kSickMachine, "interrupted before the backend was prepared");
  }
  std::optional<std::string> hello = ReceiveMessage(mine);
  if (!hello.has_value() || hello->empty()) {
    int status = 0;
    waitpid(pid, &status, 0);
    server->pid_ = -1;
    return MakeError(ErrorClass::kSickMachine,
                     WIFSIGNALED(status)
                         ? absl::StrCat("the template process died of signal ", WTERMSIG(status),
                                        " while it prepared the backend")
                         : "the template process ended while it prepared the backend");
  }
  if ((*hello)[0] == kFailed) {
    return MakeError(static_cast<ErrorClass>(Extract<uint8_t>(*hello, 5)), hello->substr(6));
  }
  return server;
}

ForkServer::~ForkServer() {
  close(control_);
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

absl::StatusOr<ForkServer::Worker> ForkServer::Spawn() {
  auto [mine, theirs] = SocketPair();
  if (mine < 0) return MakeError(ErrorClass::kSickMachine, "no more sockets");
  bool sent = SendMessage(control_, "spawn", theirs);
  close(theirs);
  while (sent) {
    std::optional<std::string> reply = ReceiveMessage(control_);
    if (!reply.has_value() || reply->empty()) break;
    if ((*reply)[0] == kSpawned) {
      pid_t pid = Extract<int32_t>(*reply, 1);
      if (pid > 0) return Worker{pid, mine};
      break;
    }
    exits_.push_back({Extract<int32_t>(*reply, 1), Extract<int32_t>(*reply, 5), reply->substr(9)});
  }
  close(mine);
  return MakeError(ErrorClass::kSickMachine, "the template process could not fork a worker");
}

absl::Status ForkServer::Poll() {
  pollfd ready{control_, POLLIN, 0};
  while (poll(&ready, 1, 0) > 0) {
    std::optional<std::string> report = ReceiveMessage(control_);
    if (!report.has_value() || report->empty()) {
      return MakeError(ErrorClass::kSickMachine, "the template process died");
    }
    exits_.push_back(
        {Extract<int32_t>(*report, 1), Extract<int32_t>(*report, 5), report->substr(9)});
  }
  return absl::OkStatus();
}

std::optional<ForkServer::Exit> ForkServer::NextExit() {
  if (exits_.empty()) return std::nullopt;
  Exit exit = std::move(exits_.front());
  exits_.erase(exits_.begin());
  return exit;
}

}  // namespace assay
