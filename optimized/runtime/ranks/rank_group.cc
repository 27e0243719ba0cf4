// Messages, a letter each: a rank says A (it arrives: meeting, operands), D (it is done: answer) or
// F (it failed: class, message); it is told O (operands of its sources) or S (the run ends).
#include "optimized/runtime/ranks/rank_group.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/process/isolate.h"
#include "spec/process/wire.h"

namespace assay {
namespace {

void Append(std::string& message, int64_t number) {
  message.append(reinterpret_cast<const char*>(&number), sizeof number);
}
int64_t NumberAt(std::string_view message, size_t at) {
  int64_t number = 0;
  if (message.size() >= at + sizeof number) std::memcpy(&number, &message[at], sizeof number);
  return number;
}
constexpr size_t kBody = 1 + sizeof(int64_t);  // behind the letter and one number

size_t BytesOf(const Meeting& meeting) {
  size_t bytes = 0;
  for (int64_t operand : meeting.operand_bytes) bytes += static_cast<size_t>(operand);
  return bytes;
}
std::vector<const void*> OperandsIn(const Meeting& meeting, const char* bytes) {
  std::vector<const void*> operands;
  for (int64_t size : meeting.operand_bytes) {
    operands.push_back(bytes);
    bytes += size;
  }
  return operands;
}

// The meetings as a rank sees them: by way of the process that keeps them.
class RankRendezvous : public Rendezvous {
 public:
  RankRendezvous(const RankGroup& group, int fd)
      : Rendezvous(group.meetings, group.names, group.backend), fd_(fd) {}

  bool Arrive(int64_t device, int64_t number, const void* const* operands, int64_t count) override {
    if (stopped() != 0) return false;
    const Meeting& here = meeting(number);
    std::string message = "A";
    Append(message, number);
    for (int64_t k = 0; k < count; ++k) {
      const auto bytes = static_cast<size_t>(here.operand_bytes[k]);
      if (bytes > 0) message.append(static_cast<const char*>(operands[k]), bytes);
    }
    std::optional<std::string> answer;
    if (SendMessage(fd_, message)) answer = ReceiveMessage(fd_);
    const std::vector<int64_t>& sources = here.sources[device];
    const size_t bytes = BytesOf(here);
    if (!answer.has_value() || answer->size() != kBody + bytes * sources.size() ||
        answer->front() != 'O') {
      Rendezvous::Fail(absl::CancelledError("the run ends"));
      return false;
    }
    received_ = *std::move(answer);
    operands_.clear();
    for (size_t k = 0; k < sources.size(); ++k) {
      operands_[sources[k]] = OperandsIn(here, received_.data() + kBody + k * bytes);
    }
    return true;
  }

  const std::vector<const void*>& OperandsOf(int64_t device, int64_t) const override {
    return operands_.at(device);
  }
  // It reads copies of its own.
  bool Leave(int64_t, int64_t) override { return stopped() == 0; }

  void Fail(absl::Status why) override {
    if (failure_.ok()) failure_ = why;
    Rendezvous::Fail(std::move(why));
  }
  const absl::Status& failure() const { return failure_; }

 private:
  const int fd_;
  std::string received_;
  std::map<int64_t, std::vector<const void*>> operands_;  // by device
  absl::Status failure_;
};

// One rank as its parent knows it.
struct Rank {
  pid_t pid = -1;
  int fd = -1;          // of the socket
  int process_fd = -1;  // ready once it has ended; -1 where the system has none
  std::string answer;
};

// The meetings as they are kept; a run that ends before its time ends the ranks.
class KeptRendezvous : public Rendezvous {
 public:
  KeptRendezvous(const RankGroup& group, const std::vector<Rank>& ranks)
      : Rendezvous(group.meetings, group.names, group.backend), ranks_(ranks) {}

  // Does what a rank asks for until it has ended.
  void Serve(int64_t number, Rank& rank) {
    while (true) {
      const std::optional<std::string> message = Receive(rank);
      if (!message.has_value() || message->empty()) {
        Fail(HowItEnded(number, rank));
        break;
      }
      if (message->front() == 'A') {
        if (!Meet(number, rank, *message)) break;
      } else if (message->front() == 'D') {
        rank.answer = message->substr(1);
        break;
      } else {
        const auto kind = static_cast<ErrorClass>(NumberAt(*message, 1));
        Fail(MakeError(kind, std::string_view(*message).substr(std::min(kBody, message->size()))));
        break;
      }
    }
    Finish(number);
  }

 protected:
  void OnStop() override {
    for (const Rank& rank : ranks_) {
      if (rank.pid > 0) kill(rank.pid, SIGKILL);
    }
  }

 private:
  // Gives what it says next; nothing once it has ended. The socket alone does not tell of that: a
  // process that was forked meanwhile may hold its other end.
  static std::optional<std::string> Receive(const Rank& rank) {
    pollfd wait[] = {{rank.fd, POLLIN, 0}, {rank.process_fd, POLLIN, 0}};
    const nfds_t count = rank.process_fd < 0 ? 1 : 2;
    while (poll(wait, count, -1) < 0 && errno == EINTR) {
    }
    if ((wait[0].revents & POLLIN) == 0) return std::nullopt;
    return ReceiveMessage(rank.fd);
  }

  // False: the rank is heard no more.
  bool Meet(int64_t number, Rank& rank, const std::string& message) {
    const int64_t place = NumberAt(message, 1);
    const Meeting& here = meeting(place);
    const std::vector<const void*> operands = OperandsIn(here, message.data() + kBody);
    std::string answer = "S";
    const bool goes_on =
        Arrive(number, place, operands.data(), static_cast<int64_t>(operands.size()));
    if (goes_on) {
      answer = "O";
      Append(answer, 0);
      answer.reserve(kBody + BytesOf(here) * here.sources[number].size());
      for (int64_t source : here.sources[number]) {
        const std::vector<const void*>& theirs = OperandsOf(source, place);
        for (size_t k = 0; k < theirs.size(); ++k) {
          answer.append(static_cast<const char*>(theirs[k]),
                        static_cast<size_t>(here.operand_bytes[k]));
        }
      }
    }
    // If it is gone, that is noticed when it is heard next.
    (void)SendMessage(rank.fd, answer);
    if (goes_on) (void)Leave(number, place);
    return true;
  }

  absl::Status HowItEnded(int64_t number, const Rank& rank) const {
    siginfo_t end = {};
    // It stays a zombie: its number must not become another process's.
    const bool known = waitid(P_PID, static_cast<id_t>(rank.pid), &end, WEXITED | WNOWAIT) == 0;
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

  const std::vector<Rank>& ranks_;
};

[[noreturn]] void BeRank(int64_t number, int fd, const RankGroup& group, const RankWork& work) {
  ConfineThisProcess(/*memory_bytes=*/0);
  RankRendezvous rendezvous(group, fd);
  const absl::StatusOr<std::string> answer = work(number, rendezvous);
  absl::Status status = rendezvous.failure();
  if (status.ok() && !answer.ok()) status = answer.status();
  std::string message = "D";
  if (status.ok()) {
    message += *answer;
  } else {
    message = "F";
    Append(message, static_cast<int64_t>(ClassOf(status)));
    message += std::string(status.message());
  }
  (void)SendMessage(fd, message);
  _exit(0);
}

// False where the machine has no more processes or sockets.
bool StartRank(int64_t number, const RankGroup& group, const RankWork& work,
               std::vector<Rank>& ranks) {
  const auto [ours, theirs] = SocketPair();
  if (ours < 0) return false;
  Rank& rank = ranks[static_cast<size_t>(number)];
  rank.fd = ours;
  rank.pid = fork();
  if (rank.pid == 0) {
    for (const Rank& other : ranks) {
      if (other.fd >= 0) close(other.fd);
    }
    BeRank(number, theirs, group, work);
  }
  close(theirs);
#ifdef SYS_pidfd_open
  if (rank.pid > 0) rank.process_fd = static_cast<int>(syscall(SYS_pidfd_open, rank.pid, 0));
#endif
  return rank.pid > 0;
}

// Nothing of them is left.
void End(std::vector<Rank>& ranks) {
  for (Rank& rank : ranks) {
    if (rank.pid > 0) {
      kill(rank.pid, SIGKILL);
      while (waitpid(rank.pid, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
    if (rank.fd >= 0) close(rank.fd);
    if (rank.process_fd >= 0) close(rank.process_fd);
  }
}

}  // namespace

absl::StatusOr<std::vector<std::string>> RunRanks(RankGroup group, const RankWork& work) {
  const auto count = static_cast<int64_t>(group.names.size());
  std::vector<Rank> ranks(group.names.size());
  for (int64_t k = 0; k < count; ++k) {
    if (StartRank(k, group, work, ranks)) continue;
    End(ranks);
    return MakeError(ErrorClass::kSickMachine,
                     StrCat(group.backend, ": no process for ", group.names[k]));
  }
  absl::Status status;
  {
    KeptRendezvous rendezvous(group, ranks);
    std::vector<std::thread> threads;
    threads.reserve(ranks.size());
    for (int64_t k = 0; k < count; ++k) {
      threads.emplace_back([&, k] { rendezvous.Serve(k, ranks[static_cast<size_t>(k)]); });
    }
    status = rendezvous.WaitForAll(group.deadline);
    for (std::thread& thread : threads) thread.join();
  }
  End(ranks);
  ASSAY_RETURN_IF_ERROR(status);
  std::vector<std::string> answers;
  for (Rank& rank : ranks) answers.push_back(std::move(rank.answer));
  return answers;
}

}  // namespace assay
