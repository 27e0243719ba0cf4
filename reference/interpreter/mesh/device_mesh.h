// Several devices that run one program, one at a time: a device runs until it must wait for others,
// then the next that can go on does. So a run is deterministic, and where nobody can go on, it is
// known who waits for what. Document: operation semantics 15.1 ("otherwise they wait forever").
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "reference/values/value.h"
#include "spec/ir/instruction.h"

namespace assay::reference {

class DeviceMesh;
struct Meeting;
struct Channel;

// The execution with this number of a collective by one of its process groups.
using MeetingKey = std::tuple<const Instruction*, int64_t /*group*/, int64_t /*execution*/>;

// One device of the mesh: a (replica, partition).
class Device {
 public:
  Device(DeviceMesh& mesh, int64_t number) : mesh_(mesh), number_(number) {}
  Device(const Device&) = delete;

  int64_t number() const { return number_; }
  int64_t replica() const;
  int64_t partition() const;
  std::string name() const;
  DeviceMesh& mesh() { return mesh_; }

  // Returns when `ready` is true, after others have run if need be. An error where that can never
  // be, or another device has failed.
  absl::Status WaitUntil(std::function<bool()> ready, std::function<std::string()> for_what);

  // The number of times that this device has executed an instruction before; counts this time.
  int64_t CountExecution(const Instruction& instruction) { return executions_[&instruction]++; }

  // Arrays that infeeds take, in order, and the values that outfeeds gave.
  std::deque<Literal> infeed;
  std::vector<Value> outfeed;

 private:
  DeviceMesh& mesh_;
  int64_t number_;
  absl::flat_hash_map<const Instruction*, int64_t> executions_;
};

class DeviceMesh {
 public:
  DeviceMesh(int64_t replicas, int64_t partitions);
  ~DeviceMesh();
  DeviceMesh(const DeviceMesh&) = delete;

  int64_t replicas() const { return replicas_; }
  int64_t partitions() const { return partitions_; }
  int64_t device_count() const { return static_cast<int64_t>(devices_.size()); }
  Device& device(int64_t number) { return *devices_[number]; }

  // Runs `program` on every device. The first error ends the run; it names the device where there
  // are several.
  absl::Status Run(const std::function<absl::Status(Device&)>& program);

  // The process groups of a collective, made once for each instruction.
  struct Groups {
    std::vector<std::vector<int64_t>> members;
    std::vector<std::pair<int64_t, int64_t>> group_of;  // by device: group (-1: none), position
  };
  absl::flat_hash_map<const Instruction*, Groups> groups;
  // The meetings that members have still to join.
  absl::flat_hash_map<MeetingKey, std::shared_ptr<Meeting>> meetings;
  absl::flat_hash_map<std::string, std::shared_ptr<Channel>> channels;

 private:
  friend class Device;
  enum class State { kReady, kRunning, kWaiting, kDone };
  struct Slot {
    State state = State::kReady;
    std::function<bool()> ready;
    std::function<std::string()> for_what;
    std::condition_variable wake;
  };

  absl::Status Wait(int64_t device, std::function<bool()> ready,
                    std::function<std::string()> for_what);
  void PassOn(int64_t from);  // lets the next device run
  absl::Status Deadlock() const;
  void Fail(int64_t device, const absl::Status& status);

  int64_t replicas_, partitions_;
  std::vector<std::unique_ptr<Device>> devices_;
  // Only the running device touches anything of the mesh; it does so under the mutex when it
  // passes on.
  std::mutex mutex_;
  std::vector<std::unique_ptr<Slot>> slots_;
  absl::Status failure_;
};

}  // namespace assay::reference
