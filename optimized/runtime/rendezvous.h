// Lets the devices of one run wait for each other. Each device is a thread; in a meeting it lays
// out its operands, waits for those that it reads from, reads, and goes on once all who read from
// it have. Nobody waits for ever: when every device waits or has finished, the run ends with an
// error that says who waits for whom; an error on one device, or the deadline, ends all.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace assay {

// The partners of each device in one collective of a program.
struct Meeting {
  std::string name;                           // for messages: "all-reduce w"
  std::vector<std::vector<int64_t>> sources;  // by device: whose operands it reads
  std::vector<std::vector<int64_t>> readers;  // by device: who reads its operands
  std::vector<int64_t> operand_bytes;         // of each operand, the same on all devices
};

class Rendezvous {
 public:
  // The meetings must live longer. Every device counts as running until it says otherwise.
  // `backend`: begins the messages.
  Rendezvous(std::vector<const Meeting*> meetings, std::vector<std::string> device_names,
             std::string backend = "cpu");
  virtual ~Rendezvous() = default;

  // Waits until every source of `device` has arrived as often as it has now. False: the run ends.
  virtual bool Arrive(int64_t device, int64_t meeting, const void* const* operands, int64_t count);
  // The operands that a source laid out; valid between Arrive and Leave of a device that reads from
  // it.
  virtual const std::vector<const void*>& OperandsOf(int64_t device, int64_t meeting) const {
    return places_[meeting][device].operands;
  }
  // Waits until every reader of `device` has left as often as it has now. False: the run ends.
  virtual bool Leave(int64_t device, int64_t meeting);
  void Finish(int64_t device);
  // The name of a device, for messages.
  const std::string& NameOf(int64_t device) const { return names_[device]; }
  const std::string& backend() const { return backend_; }
  // Ends the run. The first reason is the one that is reported.
  virtual void Fail(absl::Status why);
  // Waits until all devices have finished; at the deadline it ends the run, and still waits.
  absl::Status WaitForAll(std::chrono::steady_clock::time_point deadline);
  // Nonzero once the run ends before its time: loops look at it.
  const std::atomic<uint8_t>& stopped() const { return stopped_; }

 protected:
  // Called once, when the run ends before its time, while nobody can arrive or leave.
  virtual void OnStop() {}
  const Meeting& meeting(int64_t number) const { return *meetings_[number]; }

 private:
  enum class Activity : uint8_t { kRunning, kArriving, kLeaving, kFinished };
  struct Device {
    Activity activity = Activity::kRunning;
    int64_t meeting = -1;
  };
  struct Place {  // of a device in a meeting
    int64_t arrived = 0, left = 0;
    std::vector<const void*> operands;
  };

  // The devices that `device` still waits for.
  std::vector<int64_t> Missing(int64_t device) const;
  bool Wait(std::unique_lock<std::mutex>& lock, int64_t device, Activity activity, int64_t meeting);
  void FailIfStuck();
  void FailLocked(absl::Status why);
  std::string WhoWaits() const;

  const std::vector<const Meeting*> meetings_;
  const std::vector<std::string> names_;
  const std::string backend_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Device> devices_;
  std::vector<std::vector<Place>> places_;  // by meeting and device
  int64_t running_;
  absl::Status failure_;
  std::atomic<uint8_t> stopped_{0};
};

// Runs so many devices, each on a thread of its own until all have finished, each of which
// says so itself (Rendezvous::Finish). One whose thread cannot be started counts as finished: the
// others do not wait for it.
absl::Status RunOnThreads(int64_t devices, Rendezvous& rendezvous,
                          std::chrono::steady_clock::time_point deadline,
                          const std::function<void(int64_t device)>& run);

}  // namespace assay
