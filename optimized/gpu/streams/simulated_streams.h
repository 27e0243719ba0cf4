// Streams and events of a device that is not there (CUDA Driver API, "Stream management" and "Event
// management"). Work waits in its stream until somebody waits for it, and is then done in an order
// drawn from a seed, as far as streams and events leave one open. Each piece of work says which
// bytes it reads and writes: two that touch the same ones, at least one of them writing, while
// nothing orders them, are a finding that names both, whichever order was drawn.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace assay::gpu {

struct ByteRange {
  uint64_t address = 0, bytes = 0;
};

struct StreamWork {
  std::string name;  // "kernel \"add_1\"", for findings
  std::vector<ByteRange> reads, writes;
  std::function<absl::Status()> run;
  // Says whether it can be done now, where it waits for other devices; null: it can.
  std::function<bool()> is_ready = nullptr;
};

// A command that was captured instead of being put on its stream.
struct StreamCommand {
  enum class Kind : uint8_t { kWork, kRecord, kWait };
  Kind kind = Kind::kWork;
  uint64_t stream = 0, event = 0;
  std::shared_ptr<const StreamWork> work;
};

// The commands of a captured graph, which begins and ends on the stream `origin`.
struct CapturedGraph {
  uint64_t origin = 0;
  std::vector<StreamCommand> commands;
};

// Used by one thread at a time. Streams and events are numbers that the caller draws; a stream is
// there once it is used. Errors stay: what failed once fails in all that follows.
class SimulatedStreams {
 public:
  explicit SimulatedStreams(uint64_t seed) : random_(seed) {}

  // A finding where the work is not ordered after what it must follow.
  absl::Status Enqueue(uint64_t stream, StreamWork work);
  // The event now stands for all that was put on the stream so far.
  absl::Status Record(uint64_t event, uint64_t stream);
  // All that is put on the stream from here on comes after what the event stands for.
  // FailedPrecondition where it was never recorded.
  absl::Status Wait(uint64_t stream, uint64_t event);
  // Does all the work of the stream, and what it waits for. After it the caller knows that it is
  // done: whatever is put anywhere comes later.
  absl::Status Synchronise(uint64_t stream);
  // Does the work of the stream, too, as far as it waits for no other device, but the caller does
  // not know it: a device that is fast.
  absl::Status Advance(uint64_t stream);
  // Advances, and says whether all is done. If so the caller knows it, as after Synchronise.
  absl::StatusOr<bool> Query(uint64_t stream);
  absl::Status SynchroniseAll();
  // Forgets work that was not done.
  void Drop();

  // ---- time, in picoseconds of a clock that no machine's speed moves ----

  // The work that runs takes so much longer; outside of work, stream 0 is held up. Streams go on
  // side by side: work begins when the work before it on its stream, what it waits for, and
  // whatever the caller had waited for have ended.
  void Spend(uint64_t picoseconds);
  // When the last work ended that was done so far. It is the same in every order.
  uint64_t Time() const;

  // ---- graphs ----

  absl::Status BeginCapture(uint64_t stream);
  bool IsCaptured(uint64_t stream) const;
  // Streams that the capture took in must have come back to the first one: FailedPrecondition.
  absl::StatusOr<CapturedGraph> EndCapture(uint64_t stream);
  // Puts what was captured on a stream: its branches run on streams of their own.
  absl::Status Launch(const CapturedGraph& graph, uint64_t stream);

 private:
  // A clock says how far somebody knows each stream to have come: work is counted from one.
  using Clock = std::map<uint64_t, uint64_t>;
  struct Item {
    StreamCommand::Kind kind = StreamCommand::Kind::kWork;
    uint64_t recording = 0;  // of records and waits
    uint64_t position = 0;   // of work
    uint64_t not_before = 0;
    std::shared_ptr<const StreamWork> work;
  };
  struct Stream {
    std::deque<Item> items;
    Clock clock;
    uint64_t position = 0, done = 0, time = 0;
  };
  struct Recording {
    Clock clock;
    bool is_done = false;
    uint64_t stream = 0, time = 0;
  };
  struct Access {
    ByteRange range;
    bool is_write = false;
    uint64_t stream = 0, position = 0;
    std::shared_ptr<const StreamWork> work;
  };
  struct Branch {
    uint64_t commands = 0, joined = 0;  // so many of them, another stream of the graph comes after
  };
  struct CapturedEvent {
    uint64_t stream = 0, commands = 0;
  };
  struct Capture {
    CapturedGraph graph;
    std::map<uint64_t, Branch> streams;
    std::map<uint64_t, CapturedEvent> events;
  };

  static void Join(Clock& to, const Clock& from);
  Stream& At(uint64_t stream);
  bool IsKnownDone(const Access& access) const;
  absl::Status Check(uint64_t stream, const std::shared_ptr<const StreamWork>& work,
                     const ByteRange& range, bool is_write);
  void Note(uint64_t stream, uint64_t position, const std::shared_ptr<const StreamWork>& work,
            const ByteRange& range, bool is_write);
  absl::Status Put(uint64_t stream, const std::shared_ptr<const StreamWork>& work);
  bool CanGoOn(const Stream& stream) const;
  absl::Status Step(Stream& stream);
  bool WaitsForOthers() const;
  // Does work in the drawn order until `is_enough`. Where all that is left waits for other devices
  // it waits, too, but not for ever; or, told not to, comes back.
  absl::Status RunUntil(const std::function<bool()>& is_enough, bool may_wait = true);
  Capture* CaptureOf(uint64_t stream);
  // Forgets what nobody can ask for any more, once all is done and the caller knows it.
  void Tidy();

  std::mt19937_64 random_;
  std::map<uint64_t, Stream> streams_;
  std::map<uint64_t, uint64_t> latest_;       // recording by event
  std::map<uint64_t, Recording> recordings_;  // by number
  uint64_t next_recording_ = 1, next_private_ = uint64_t{1} << 62;
  std::vector<Access> accesses_;
  Clock host_;  // what the caller waited for
  uint64_t host_time_ = 0;
  Stream* running_ = nullptr;  // whose work runs
  absl::Status failure_;
  std::unique_ptr<Capture> capture_;
};

}  // namespace assay::gpu
