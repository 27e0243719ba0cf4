// Ranks that are forked from this process.
#include "optimized/runtime/ranks/rank_group.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "optimized/runtime/ranks/mpi_group.h"
#include "optimized/runtime/ranks/rank_channel.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/process/isolate.h"
#include "spec/process/wire.h"

namespace assay {
namespace {

// A rank that was forked.
struct ForkedRank {
  pid_t pid = -1;
  RankPeer peer;
};

// A run that ends before its time ends the ranks.
class ForkedRendezvous : public KeptRendezvous {
 public:
  ForkedRendezvous(const RankGroup& group, const std::vector<ForkedRank>& ranks)
      : KeptRendezvous(group), ranks_(ranks) {}

 protected:
  void OnStop() override {
    for (const ForkedRank& rank : ranks_) {
      if (rank.pid > 0) kill(rank.pid, SIGKILL);
    }
  }

  absl::Status HowItEnded(int64_t number) const override {
    siginfo_t end = {};
    // It stays a zombie: its number must not become another process's.
    const auto pid = static_cast<id_t>(ranks_[static_cast<size_t>(number)].pid);
    const bool known = waitid(P_PID, pid, &end, WEXITED | WNOWAIT) == 0;
    std::string how = "ended";
    if (known && end.si_code == CLD_EXITED) {
      how = end.si_status == kOutOfMemoryExit ? "ran out of memory"
                                              : StrCat("ended with status ", end.si_status);
    } else if (known) {
      how = StrCat("was ended by ", SignalName(end.si_status));
    }
    return MakeError(ErrorClass::kRunCrash,
                     StrCat(backend(), ": the process of ", NameOf(number), " ", how));
  }

 private:
  const std::vector<ForkedRank>& ranks_;
};

[[noreturn]] void BeRank(int64_t number, int fd, const RankGroup& group, const RankWork& work) {
  ConfineThisProcess(/*memory_bytes=*/0);
  RankRendezvous(group, fd).Run(number, work);
  _exit(0);
}

// False where the machine has no more processes or sockets.
bool StartRank(int64_t number, const RankGroup& group, const RankWork& work,
               std::vector<ForkedRank>& ranks) {
  const auto [ours, theirs] = SocketPair();
  if (ours < 0) return false;
  ForkedRank& rank = ranks[static_cast<size_t>(number)];
  rank.peer.fd = ours;
  rank.pid = fork();
  if (rank.pid == 0) {
    for (const ForkedRank& other : ranks) {
      if (other.peer.fd >= 0) close(other.peer.fd);
    }
    BeRank(number, theirs, group, work);
  }
  close(theirs);
#ifdef SYS_pidfd_open
  if (rank.pid > 0) rank.peer.process_fd = static_cast<int>(syscall(SYS_pidfd_open, rank.pid, 0));
#endif
  return rank.pid > 0;
}

// Nothing of them is left.
void End(std::vector<ForkedRank>& ranks) {
  for (ForkedRank& rank : ranks) {
    if (rank.pid > 0) {
      kill(rank.pid, SIGKILL);
      while (waitpid(rank.pid, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
    if (rank.peer.fd >= 0) close(rank.peer.fd);
    if (rank.peer.process_fd >= 0) close(rank.peer.process_fd);
  }
}

}  // namespace

std::optional<RankKind> FindRankKind(std::string_view word) {
  if (word == "threads") return RankKind::kThreads;
  if (word == "processes") return RankKind::kProcesses;
  if (word == "mpi") return RankKind::kMpi;
  return std::nullopt;
}

absl::StatusOr<std::vector<std::string>> RunRanks(RankGroup group, const RankWork& work) {
  if (group.kind == RankKind::kMpi) return RunMpiRanks(group, work);
  const auto count = static_cast<int64_t>(group.names.size());
  std::vector<ForkedRank> ranks(group.names.size());
  for (int64_t k = 0; k < count; ++k) {
    if (StartRank(k, group, work, ranks)) continue;
    End(ranks);
    return MakeError(ErrorClass::kSickMachine,
                     StrCat(group.backend, ": no process for ", group.names[k]));
  }
  absl::Status status;
  {
    ForkedRendezvous rendezvous(group, ranks);
    std::vector<std::thread> threads;
    threads.reserve(ranks.size());
    for (int64_t k = 0; k < count; ++k) {
      threads.emplace_back([&, k] { rendezvous.Serve(k, ranks[static_cast<size_t>(k)].peer); });
    }
    status = rendezvous.WaitForAll(group.deadline);
    for (std::thread& thread : threads) thread.join();
  }
  End(ranks);
  ASSAY_RETURN_IF_ERROR(status);
  std::vector<std::string> answers;
  for (ForkedRank& rank : ranks) answers.push_back(std::move(rank.peer.answer));
  return answers;
}

}  // namespace assay
