// A child process that speaks the process protocol (worker_protocol.py has it in words): started
// when first needed, kept warm between requests, killed when late or too big, started again after
// its death.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "spec/base/error.h"
#include "spec/process/cpu_time.h"
#include "spec/process/worker_nursery.h"

namespace assay {

struct WorkerMessage {
  nlohmann::json header;
  std::string payload;
};

// The limits on the cost of a request.
struct RequestLimits {
  double seconds = 60;       // its own: what it waits for a busy machine does not count
  int64_t memory_bytes = 0;  // resident set of the worker; 0: no limit
  // Else a worker is ended once it has written a fatal line of Abseil's log to standard error,
  // "F1125 16:21:57.664492 ...": to look the names of its stack up, which come next, takes it long.
  bool backtraces = true;
};

// User and system seconds of all workers of this process that are not its descendants, because an
// ancestor of it has started their nursery: those that run and those that have ended.
double CpuSecondsOfWorkersElsewhere();

class WorkerProcess {
 public:
  // argv[0] is looked up in PATH. Nothing is started yet. With a nursery, workers are forked from
  // it; where that fails they are started by argv.
  explicit WorkerProcess(std::vector<std::string> argv,
                         std::shared_ptr<WorkerNursery> nursery = nullptr)
      : argv_(std::move(argv)), nursery_(std::move(nursery)) {}
  ~WorkerProcess() { Stop(); }
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  // Starts the worker if it is not running and waits for its greeting, until it has had so many
  // seconds: time in which others had the cores does not count.
  // Errors: sick machine (no such program, no greeting, other protocol): how it ended and what it
  // wrote last, or what it said instead.
  absl::Status Start(double seconds = 60);
  // One request, one answer. An "error" in the answer becomes a status of its class. A worker that
  // dies, hangs, grows beyond its limit or answers garbage is killed; the status is of class
  // `if_it_dies` (compile crash or run crash), timeout or out of memory and quotes the end of what
  // it wrote to standard error. An interrupt (interrupt.h) ends the wait, and the worker. All that
  // it says is printable.
  absl::StatusOr<WorkerMessage> Request(const nlohmann::json& header, std::string_view payload,
                                        const RequestLimits& limits, ErrorClass if_it_dies);
  void Stop();

  // A forked copy of this object has no worker until it starts one of its own.
  bool running() const;
  // Counts starts; a compiled executable lives only in the generation that compiled it.
  int64_t generation() const { return generation_; }
  const nlohmann::json& greeting() const { return greeting_; }

 private:
  absl::Status Spawn();
  bool ForkFromNursery(int channel);
  // The wait status, when the worker ends within the seconds.
  std::optional<int> AwaitEnd(double seconds);
  void CloseDescriptors();
  // Why the channel to the worker gave no message.
  enum class Trouble : uint8_t {
    kNone,
    kClosed,
    kLate,
    kStarved,
    kTooBig,
    kBadSize,
    kBadHeader,
    kInterrupted
  };
  // The time that may pass until the message is there.
  struct Patience {
    double deadline = 0;       // of Now()
    int64_t memory_bytes = 0;  // of the worker; 0: no limit
    // A worker on a busy machine has not had its time when the deadline comes: with `seconds` set
    // it may take some times as long, until it has used a good part of them since `cpu_before`;
    // what its threads waited for a core since `waited_before` tells one that was kept from it.
    double seconds = 0, cpu_before = 0, waited_before = 0;
    // The time of a worker that is starting: it may take its `seconds` however busy the machine is.
    std::optional<TimeOfProcess> starting = std::nullopt;
    // Most requests are answered before it pays to look: the two times before are not known until
    // the worker was looked at once, and Now() comes to the time of the next look; 0: not set.
    bool is_measured = false;
    double next_look = 0;
    bool backtraces = true;  // RequestLimits::backtraces, until the worker was ended for it
  };
  Trouble Lateness(const Patience& patience) const;
  Trouble Write(std::string_view bytes, double deadline);
  Trouble ReadExactly(char* into, size_t count, Patience& patience);
  // Waits until there is something to read, and looks at the worker when it is time to: one that
  // sends a byte now and then is looked at, too.
  Trouble Wait(Patience& patience);
  // True once the worker has written a fatal line, since the request was sent.
  bool HasSaidWhyItDies();
  Trouble Receive(Patience& patience, WorkerMessage& message);
  // Why there is no greeting, "" if it is one.
  std::string TroubleOfGreeting(Trouble heard, const WorkerMessage& hello,
                                const Patience& patience);
  absl::Status Ended(Trouble trouble, const RequestLimits& limits, ErrorClass if_it_dies);
  absl::Status Died(ErrorClass if_it_dies);
  // "died of SIGSEGV", "exited with status 3", of a worker that has closed the channel.
  std::string HowItEnded();
  // Describes what stands where a message should.
  std::string Garbage() const;
  // The end of what the worker has written since the request was sent: what it complained of before
  // is not what it dies of.
  std::string StderrTail() const;

  std::vector<std::string> argv_;
  std::shared_ptr<WorkerNursery> nursery_;
  pid_t pid_ = -1;
  pid_t owner_ = -1;        // who started it: a forked copy of this object must not kill the worker
  int channel_ = -1;        // socket pair: the child's standard input and output
  int stderr_ = -1;         // memory file
  off_t stderr_begun_ = 0;  // where in it the words on the last request begin
  off_t stderr_read_ = 0;   // of it, by HasSaidWhyItDies
  int lifeline_ = -1, report_ = -1;  // of a worker from the nursery
  std::string garbage_;              // the beginning of what is no message
  int64_t generation_ = 0;
  nlohmann::json greeting_;
};

}  // namespace assay
