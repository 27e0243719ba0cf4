// Both ends of a rank's socket.
#include "optimized/runtime/ranks/rank_channel.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "spec/base/error.h"
#include "spec/base/strings.h"
#include "spec/process/wire.h"

namespace assay {
namespace {

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

}  // namespace

std::string RankMessage(char letter, int64_t number) {
  std::string message(1, letter);
  message.append(reinterpret_cast<const char*>(&number), sizeof number);
  return message;
}

int64_t NumberOfMessage(std::string_view message) {
  int64_t number = 0;
  if (message.size() >= kRankMessageHead) std::memcpy(&number, &message[1], sizeof number);
  return number;
}

std::string FailureMessage(const absl::Status& status) {
  return RankMessage('F', static_cast<int64_t>(ClassOf(status))) + std::string(status.message());
}

absl::Status FailureOfMessage(std::string_view message) {
  const int64_t number = NumberOfMessage(message);
  const bool is_known = number >= 0 && number <= static_cast<int64_t>(ErrorClass::kSickMachine);
  const auto kind = is_known ? static_cast<ErrorClass>(number) : ErrorClass::kRunCrash;
  return MakeError(kind, message.substr(std::min(kRankMessageHead, message.size())));
}

bool RankRendezvous::Arrive(int64_t device, int64_t number, const void* const* operands,
                            int64_t count) {
  if (stopped() != 0) return false;
  const Meeting& here = meeting(number);
  std::string message = RankMessage('A', number);
  for (int64_t k = 0; k < count; ++k) {
    const auto bytes = static_cast<size_t>(here.operand_bytes[k]);
    if (bytes > 0) message.append(static_cast<const char*>(operands[k]), bytes);
  }
  std::optional<std::string> answer;
  if (SendMessage(fd_, message)) answer = ReceiveMessage(fd_);
  const std::vector<int64_t>& sources = here.sources[device];
  const size_t bytes = BytesOf(here);
  if (!answer.has_value() || answer->size() != kRankMessageHead + bytes * sources.size() ||
      answer->front() != 'O') {
    Stop();
    return false;
  }
  received_ = *std::move(answer);
  operands_.clear();
  for (size_t k = 0; k < sources.size(); ++k) {
    operands_[sources[k]] = OperandsIn(here, received_.data() + kRankMessageHead + k * bytes);
  }
  return true;
}

void RankRendezvous::Fail(absl::Status why) {
  if (failure_.ok()) failure_ = why;
  Rendezvous::Fail(std::move(why));
}

void RankRendezvous::Stop() { Rendezvous::Fail(absl::CancelledError("the run ends")); }

void RankRendezvous::Run(int64_t number, const RankWork& work) {
  const absl::StatusOr<std::string> answer = work(number, *this);
  absl::Status status = failure_;
  if (status.ok() && !answer.ok()) status = answer.status();
  (void)SendMessage(fd_, status.ok() ? "D" + *answer : FailureMessage(status));
}

void KeptRendezvous::Serve(int64_t number, RankPeer& rank) {
  while (true) {
    const std::optional<std::string> message = Receive(rank);
    if (!message.has_value() || message->empty()) {
      Fail(HowItEnded(number));
      break;
    }
    if (message->front() == 'A') {
      if (!IsArrival(*message)) {
        Fail(MakeError(ErrorClass::kRunCrash,
                       StrCat(backend(), ": the process of ", NameOf(number), " says nonsense")));
        break;
      }
      Meet(number, rank, *message);
    } else if (message->front() == 'D') {
      rank.answer = message->substr(1);
      break;
    } else {
      Fail(FailureOfMessage(*message));
      break;
    }
  }
  Finish(number);
}

// Gives what it says next; nothing once it has ended. The socket alone does not tell of that: a
// process that was forked meanwhile may hold its other end.
std::optional<std::string> KeptRendezvous::Receive(const RankPeer& rank) {
  pollfd wait[] = {{rank.fd, POLLIN, 0}, {rank.process_fd, POLLIN, 0}};
  const nfds_t count = rank.process_fd < 0 ? 1 : 2;
  while (poll(wait, count, -1) < 0 && errno == EINTR) {
  }
  if ((wait[0].revents & POLLIN) == 0) return std::nullopt;
  return ReceiveMessage(rank.fd);
}

// A rank runs code that is being tested, which may have written over what it says.
bool KeptRendezvous::IsArrival(const std::string& message) const {
  const int64_t place = NumberOfMessage(message);
  return place >= 0 && place < meetings_ &&
         message.size() == kRankMessageHead + BytesOf(meeting(place));
}

void KeptRendezvous::Meet(int64_t number, RankPeer& rank, const std::string& message) {
  const int64_t place = NumberOfMessage(message);
  const Meeting& here = meeting(place);
  const std::vector<const void*> operands = OperandsIn(here, message.data() + kRankMessageHead);
  std::string answer = "S";
  const bool goes_on =
      Arrive(number, place, operands.data(), static_cast<int64_t>(operands.size()));
  if (goes_on) {
    answer = RankMessage('O', 0);
    answer.reserve(kRankMessageHead + BytesOf(here) * here.sources[number].size());
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
}

}  // namespace assay
