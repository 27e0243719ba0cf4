// Every process has a line to rank 0 for orders, and one for each of its devices. A process begins
// a line by saying H, its rank, and then which device it is for (-1: orders) and what it is about
// to run; over the line for orders it is told R (the answers of all) or F (why there are none).
#include "optimized/runtime/ranks/mpi_group.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "optimized/runtime/ranks/rank_channel.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/process/wire.h"

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

// Orders come after the deadline: rank 0 notices it first.
constexpr auto kGrace = std::chrono::seconds(5);

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int MillisecondsUntil(Clock::time_point when) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(when - Clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1000000));
}

class Line {
 public:
  Line() = default;
  explicit Line(int fd) : fd_(fd) {}
  Line(Line&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Line& operator=(Line&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Line() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }
  // Whoever reads from it reads its end; what is said still arrives.
  void Hush() const { shutdown(fd_, SHUT_RD); }
  void Cut() const { shutdown(fd_, SHUT_RDWR); }
  // False once the time is over, or the other side is gone.
  bool HasNews(Clock::time_point until) const {
    pollfd wait = {fd_, POLLIN, 0};
    int ready = 0;
    do {
      ready = poll(&wait, 1, MillisecondsUntil(until));
    } while (ready < 0 && errno == EINTR);
    return ready > 0;
  }

 private:
  int fd_ = -1;
};

// The name lies in no folder: it goes with the process.
socklen_t AddressOf(const MpiPlace& place, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  const std::string name =
      StrCat("assay-ranks-", getuid(), "-", place.job).substr(0, sizeof(address.sun_path) - 2);
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

bool IsOurs(int fd) {
  ucred peer = {};
  socklen_t size = sizeof peer;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == getuid();
}

// The meetings of the program: processes that are about to run different programs do not meet.
std::string FingerprintOf(const RankGroup& group) {
  std::string text = StrCat(group.backend, " ", group.names.size());
  for (const Meeting* meeting : group.meetings) {
    StrAppend(&text, ";", meeting->name);
    for (int64_t bytes : meeting->operand_bytes) StrAppend(&text, ",", bytes);
  }
  return text;
}

std::string Greeting(int rank, int64_t device, const std::string& fingerprint) {
  std::string message = RankMessage('H', rank);
  message.append(reinterpret_cast<const char*>(&device), sizeof device);
  return message + fingerprint;
}

absl::Status Late(const RankGroup& group, const std::string& who) {
  return MakeError(ErrorClass::kTimeout,
                   StrCat(group.backend, ": ", who, " within the time limit"));
}

// ---- ranks other than 0 ----

class JoiningProcess {
 public:
  JoiningProcess(const RankGroup& group, const MpiPlace& place) : group_(group), place_(place) {}

  absl::StatusOr<std::vector<std::string>> Run(const RankWork& work) {
    ASSAY_ASSIGN_OR_RETURN(const Line orders, Join(-1, nullptr));
    std::vector<Line> lines;
    const auto count = static_cast<int64_t>(group_.names.size());
    for (int64_t device = place_.rank; device < count; device += place_.size) {
      absl::StatusOr<Line> line = Join(device, &orders);
      // Orders that come now say why there is no run.
      if (!line.ok() && orders.HasNews(Clock::now())) return Await(orders);
      if (!line.ok()) return line.status();
      lines.push_back(*std::move(line));
    }
    std::vector<std::unique_ptr<RankRendezvous>> ranks;
    std::vector<std::thread> threads;
    for (size_t k = 0; k < lines.size(); ++k) {
      ranks.push_back(std::make_unique<RankRendezvous>(group_, lines[k].fd()));
      const int64_t device = place_.rank + static_cast<int64_t>(k) * place_.size;
      threads.emplace_back([&work, device, rank = ranks.back().get()] { rank->Run(device, work); });
    }
    absl::StatusOr<std::vector<std::string>> answers = Await(orders);
    // Whatever it was, no work goes on.
    for (const auto& rank : ranks) rank->Stop();
    for (const Line& line : lines) line.Cut();
    for (std::thread& thread : threads) thread.join();
    return answers;
  }

 private:
  // Rank 0 may not be there yet. It is waited for until `orders` say something.
  absl::StatusOr<Line> Join(int64_t device, const Line* orders) {
    sockaddr_un address;
    const socklen_t size = AddressOf(place_, address);
    while (true) {
      Line line(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
      if (line.fd() < 0) return MakeError(ErrorClass::kSickMachine, "no more sockets");
      const auto* to = reinterpret_cast<const sockaddr*>(&address);
      if (connect(line.fd(), to, size) == 0 && IsOurs(line.fd()) &&
          SendMessage(line.fd(), Greeting(place_.rank, device, FingerprintOf(group_)))) {
        return line;
      }
      const bool is_over = orders != nullptr && orders->HasNews(Clock::now());
      if (is_over || Clock::now() > group_.deadline) {
        return Late(group_, "rank 0 of mpirun did not come");
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  absl::StatusOr<std::vector<std::string>> Await(const Line& orders) const {
    const auto until = std::min(group_.deadline, Clock::now() + std::chrono::hours(10)) + kGrace;
    if (!orders.HasNews(until)) return Late(group_, "rank 0 of mpirun did not answer");
    const std::optional<std::string> message = ReceiveMessage(orders.fd());
    if (!message.has_value() || message->empty()) {
      return MakeError(ErrorClass::kRunCrash,
                       StrCat(group_.backend, ": the process of rank 0 of mpirun ended"));
    }
    if (message->front() != 'R') return FailureOfMessage(*message);
    std::vector<std::string> answers;
    for (size_t k = 0; k < group_.names.size(); ++k) {
      std::optional<std::string> answer = ReceiveMessage(orders.fd());
      if (!answer.has_value()) return absl::DataLossError("answers of ranks are missing");
      answers.push_back(*std::move(answer));
    }
    return answers;
  }

  const RankGroup& group_;
  const MpiPlace& place_;
};

// ---- rank 0 ----

class JoinedRendezvous : public KeptRendezvous {
 public:
  JoinedRendezvous(const RankGroup& group, const MpiPlace& place, const std::vector<Line>& lines,
                   const std::vector<std::unique_ptr<RankRendezvous>>& own)
      : KeptRendezvous(group), place_(place), lines_(lines), own_(own) {}

 protected:
  // The others hear of it by their orders.
  void OnStop() override {
    for (const Line& line : lines_) line.Hush();
    for (const auto& rank : own_) rank->Stop();
  }
  absl::Status HowItEnded(int64_t number) const override {
    return MakeError(ErrorClass::kRunCrash,
                     StrCat(backend(), ": the process of ", NameOf(number), ", rank ",
                            number % place_.size, " of mpirun, ended"));
  }

 private:
  const MpiPlace& place_;
  const std::vector<Line>& lines_;
  const std::vector<std::unique_ptr<RankRendezvous>>& own_;
};

class KeepingProcess {
 public:
  KeepingProcess(const RankGroup& group, const MpiPlace& place)
      : group_(group),
        place_(place),
        orders_(static_cast<size_t>(place.size)),
        lines_(group.names.size()) {}

  absl::StatusOr<std::vector<std::string>> Run(const RankWork& work) {
    absl::StatusOr<std::vector<std::string>> answers = Gather();
    if (answers.ok()) answers = RunAll(work);
    for (const Line& order : orders_) {
      if (order.fd() >= 0) Tell(order, answers);
    }
    return answers;
  }

 private:
  int64_t count() const { return static_cast<int64_t>(lines_.size()); }

  // Waits until all lines are there. The list is empty.
  absl::StatusOr<std::vector<std::string>> Gather() {
    ASSAY_ASSIGN_OR_RETURN(const Line listener, Listen());
    int64_t missing = place_.size - 1;
    for (int64_t device = 0; device < count(); ++device) missing += device % place_.size != 0;
    while (missing > 0) {
      if (!listener.HasNews(group_.deadline)) {
        return Late(group_, StrCat(MissingRanks(), " of mpirun did not come"));
      }
      Line line(accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC));
      if (line.fd() < 0 || !IsOurs(line.fd()) || !line.HasNews(group_.deadline)) continue;
      const std::optional<std::string> said = ReceiveMessage(line.fd());
      const Hello hello = ReadHello(said.value_or(""));
      if (hello.line == nullptr || hello.line->fd() >= 0) continue;
      *hello.line = std::move(line);
      if (!hello.is_same_program) {
        return MakeError(ErrorClass::kRejected,
                         StrCat(group_.backend, ": rank ", NumberOfMessage(*said),
                                " of mpirun runs another program than rank 0"));
      }
      --missing;
    }
    return std::vector<std::string>();
  }

  // An earlier run of this job may still be at its end.
  absl::StatusOr<Line> Listen() const {
    sockaddr_un address;
    const socklen_t size = AddressOf(place_, address);
    Line line(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (line.fd() < 0) return MakeError(ErrorClass::kSickMachine, "no more sockets");
    while (bind(line.fd(), reinterpret_cast<const sockaddr*>(&address), size) != 0) {
      if (Clock::now() > group_.deadline) return Late(group_, "rank 0 of mpirun found no place");
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    constexpr int kWaiting = 4096;
    if (listen(line.fd(), kWaiting) != 0) {
      return MakeError(ErrorClass::kSickMachine, "no socket to listen at");
    }
    return line;
  }

  struct Hello {
    Line* line = nullptr;  // that begins so; nullptr: none that is known
    bool is_same_program = false;
  };
  Hello ReadHello(const std::string& said) {
    const int64_t rank = NumberOfMessage(said);
    if (said.size() < kRankMessageHead + sizeof(int64_t) || said.front() != 'H' || rank <= 0 ||
        rank >= place_.size) {
      return {};
    }
    int64_t device = 0;
    std::memcpy(&device, &said[kRankMessageHead], sizeof device);
    Hello hello;
    hello.is_same_program = said.substr(kRankMessageHead + sizeof device) == FingerprintOf(group_);
    if (device < 0) {
      hello.line = &orders_[static_cast<size_t>(rank)];
    } else if (device < count() && device % place_.size == rank) {
      hello.line = &lines_[static_cast<size_t>(device)];
    }
    return hello;
  }

  std::string MissingRanks() const {
    std::string text;
    for (int rank = 1; rank < place_.size; ++rank) {
      if (orders_[static_cast<size_t>(rank)].fd() >= 0) continue;
      StrAppend(&text, text.empty() ? "rank " : " and ", rank);
    }
    return text.empty() ? "a device of a rank" : text;
  }

  absl::StatusOr<std::vector<std::string>> RunAll(const RankWork& work) {
    std::vector<RankPeer> peers(lines_.size());
    std::vector<Line> own_lines;
    std::vector<std::unique_ptr<RankRendezvous>> own;
    for (int64_t device = 0; device < count(); device += place_.size) {
      const auto [kept, given] = SocketPair();
      if (kept < 0) return MakeError(ErrorClass::kSickMachine, "no more sockets");
      lines_[static_cast<size_t>(device)] = Line(kept);
      own_lines.emplace_back(given);
      own.push_back(std::make_unique<RankRendezvous>(group_, given));
    }
    JoinedRendezvous rendezvous(group_, place_, lines_, own);
    std::vector<std::thread> threads;
    for (int64_t device = 0; device < count(); ++device) {
      RankPeer& peer = peers[static_cast<size_t>(device)];
      peer.fd = lines_[static_cast<size_t>(device)].fd();
      threads.emplace_back([&rendezvous, &peer, device] { rendezvous.Serve(device, peer); });
      if (device % place_.size != 0) continue;
      RankRendezvous* rank = own[static_cast<size_t>(device / place_.size)].get();
      threads.emplace_back([&work, rank, device] { rank->Run(device, work); });
    }
    const absl::Status status = rendezvous.WaitForAll(group_.deadline);
    for (const Line& line : own_lines) line.Cut();
    for (std::thread& thread : threads) thread.join();
    ASSAY_RETURN_IF_ERROR(status);
    std::vector<std::string> answers;
    for (RankPeer& peer : peers) answers.push_back(std::move(peer.answer));
    return answers;
  }

  static void Tell(const Line& order, const absl::StatusOr<std::vector<std::string>>& answers) {
    if (!answers.ok()) {
      (void)SendMessage(order.fd(), FailureMessage(answers.status()));
      return;
    }
    if (!SendMessage(order.fd(), "R")) return;
    for (const std::string& answer : *answers) {
      if (!SendMessage(order.fd(), answer)) return;
    }
  }

  const RankGroup& group_;
  const MpiPlace& place_;
  std::vector<Line> orders_;  // by rank
  std::vector<Line> lines_;   // by device
};

}  // namespace

std::optional<MpiPlace> FindMpiPlace() {
  MpiPlace place;
  for (const auto& [rank, size] : {std::pair("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
                                   std::pair("PMI_RANK", "PMI_SIZE")}) {
    if (!absl::SimpleAtoi(Variable(rank), &place.rank) ||
        !absl::SimpleAtoi(Variable(size), &place.size)) {
      continue;
    }
    if (place.rank < 0 || place.rank >= place.size) continue;
    std::string job;
    for (const char* name : {"PMIX_NAMESPACE", "OMPI_MCA_orte_hnp_uri", "PMI_JOBID", "SLURM_JOB_ID",
                             "SLURM_STEP_ID"}) {
      StrAppend(&job, Variable(name), "/");
    }
    // An address has room for some 80 letters.
    place.job = absl::StrFormat("%016x", std::hash<std::string>()(job));
    return place;
  }
  return std::nullopt;
}

absl::StatusOr<std::vector<std::string>> RunMpiRanks(const RankGroup& group, const RankWork& work) {
  const std::optional<MpiPlace> place = FindMpiPlace();
  if (!place.has_value()) {
    return MakeError(
        ErrorClass::kRejected,
        StrCat(group.backend, ": ranks=mpi runs under mpirun: mpirun -n ", group.names.size(),
               " assay ...; without it, ranks=processes does the same"));
  }
  if (place->rank == 0) return KeepingProcess(group, *place).Run(work);
  return JoiningProcess(group, *place).Run(work);
}

}  // namespace assay
