// Lets ranks and the process that keeps their meetings speak to each other, over a socket for each
// rank. Messages, a letter each: a rank says A (it arrives: meeting, operands), D (it is done:
// answer) or F (it failed: class, message); it is told O (operands of its sources) or S (the run
// ends).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "optimized/runtime/ranks/rank_group.h"

namespace assay {

// A letter and a number begin most messages.
inline constexpr size_t kRankMessageHead = 1 + sizeof(int64_t);
std::string RankMessage(char letter, int64_t number);
int64_t NumberOfMessage(std::string_view message);
// F with a class and a text; and the error that one tells of.
std::string FailureMessage(const absl::Status& status);
absl::Status FailureOfMessage(std::string_view message);

// The meetings as a rank sees them: by way of the process that keeps them.
class RankRendezvous : public Rendezvous {
 public:
  RankRendezvous(const RankGroup& group, int fd)
      : Rendezvous(group.meetings, group.names, group.backend), fd_(fd) {}

  bool Arrive(int64_t device, int64_t number, const void* const* operands, int64_t count) override;
  const std::vector<const void*>& OperandsOf(int64_t device, int64_t) const override {
    return operands_.at(device);
  }
  // It reads copies of its own.
  bool Leave(int64_t, int64_t) override { return stopped() == 0; }
  void Fail(absl::Status why) override;
  // By another thread: the run ends, whatever for.
  void Stop();
  // Does the work of a rank and says what came of it.
  void Run(int64_t number, const RankWork& work);

 private:
  const int fd_;
  std::string received_;
  std::map<int64_t, std::vector<const void*>> operands_;  // by device
  absl::Status failure_;
};

// One rank as the process that keeps the meetings knows it.
struct RankPeer {
  int fd = -1;          // of the socket
  int process_fd = -1;  // ready once it has ended; -1 where that is not known
  std::string answer;
};

// The meetings as they are kept.
class KeptRendezvous : public Rendezvous {
 public:
  explicit KeptRendezvous(const RankGroup& group)
      : Rendezvous(group.meetings, group.names, group.backend),
        meetings_(static_cast<int64_t>(group.meetings.size())) {}

  // Does what a rank asks for until it has ended.
  void Serve(int64_t number, RankPeer& rank);

 protected:
  // Says what became of a rank that is heard no more.
  virtual absl::Status HowItEnded(int64_t number) const = 0;

 private:
  static std::optional<std::string> Receive(const RankPeer& rank);
  // The message names a meeting and has its operands.
  bool IsArrival(const std::string& message) const;
  void Meet(int64_t number, RankPeer& rank, const std::string& message);

  const int64_t meetings_;
};

}  // namespace assay
