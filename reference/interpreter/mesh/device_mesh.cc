// Threads of which one runs at a time, and who goes on when one waits.
#include "reference/interpreter/mesh/device_mesh.h"

#include <system_error>
#include <thread>

#include "reference/interpreter/mesh/exchange.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"
#include "spec/ops/collective_groups.h"

namespace assay::reference {
namespace {

// Devices that a message names at most; more help nobody.
constexpr int kMaxNamed = 16;

}  // namespace

int64_t Device::replica() const { return number_ / mesh_.partitions(); }
int64_t Device::partition() const { return number_ % mesh_.partitions(); }
std::string Device::name() const { return DeviceName(number_, mesh_.partitions()); }

absl::Status Device::WaitUntil(std::function<bool()> ready, std::function<std::string()> for_what) {
  if (ready()) return absl::OkStatus();
  return mesh_.Wait(number_, std::move(ready), std::move(for_what));
}

DeviceMesh::DeviceMesh(int64_t replicas, int64_t partitions)
    : replicas_(replicas), partitions_(partitions) {
  for (int64_t d = 0; d < replicas * partitions; ++d) {
    devices_.push_back(std::make_unique<Device>(*this, d));
    slots_.push_back(std::make_unique<Slot>());
  }
}

DeviceMesh::~DeviceMesh() = default;

absl::Status DeviceMesh::Run(const std::function<absl::Status(Device&)>& program) {
  failure_ = absl::OkStatus();
  if (devices_.size() == 1) {
    slots_[0]->state = State::kRunning;
    return program(*devices_[0]);
  }
  for (auto& slot : slots_) slot->state = State::kReady;
  std::vector<std::thread> threads;
  auto run = [&](int64_t d) {
    std::unique_lock<std::mutex> lock(mutex_);
    Slot& slot = *slots_[d];
    slot.wake.wait(lock, [&] { return slot.state == State::kRunning; });
    const bool goes_on = failure_.ok();
    lock.unlock();
    const absl::Status status = goes_on ? program(*devices_[d]) : absl::OkStatus();
    lock.lock();
    if (!status.ok() && failure_.ok()) Fail(d, status);
    slot.state = State::kDone;
    PassOn(d);
  };
  for (int64_t d = 0; d < device_count(); ++d) {
    try {
      threads.emplace_back(run, d);
    } catch (const std::system_error&) {
      const std::lock_guard<std::mutex> lock(mutex_);
      failure_ = MakeError(ErrorClass::kOutOfMemory,
                           StrCat("cannot start a thread for each of ", device_count(),
                                  " devices; only ", d, " could be started"));
      for (int64_t rest = d; rest < device_count(); ++rest) slots_[rest]->state = State::kDone;
      break;
    }
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    PassOn(device_count() - 1);
  }
  for (std::thread& thread : threads) thread.join();
  return failure_;
}

absl::Status DeviceMesh::Wait(int64_t device, std::function<bool()> ready,
                              std::function<std::string()> for_what) {
  Slot& slot = *slots_[device];
  slot.ready = std::move(ready);
  slot.for_what = std::move(for_what);
  slot.state = State::kWaiting;
  if (devices_.size() == 1) return Deadlock();
  std::unique_lock<std::mutex> lock(mutex_);
  PassOn(device);
  slot.wake.wait(lock, [&] { return slot.state == State::kRunning; });
  slot.ready = nullptr;
  slot.for_what = nullptr;
  return failure_;
}

void DeviceMesh::PassOn(int64_t from) {
  auto give = [&](int64_t d) {
    slots_[d]->state = State::kRunning;
    slots_[d]->wake.notify_one();
  };
  const int64_t count = device_count();
  for (int64_t step = 1; step <= count && failure_.ok(); ++step) {
    const int64_t d = (from + step) % count;
    const Slot& slot = *slots_[d];
    if (slot.state == State::kReady || (slot.state == State::kWaiting && slot.ready()))
      return give(d);
  }
  // All are done, or nobody can go on, or one has failed: the rest is told, one after the other.
  for (int64_t d = 0; d < count; ++d) {
    if (slots_[d]->state != State::kWaiting && slots_[d]->state != State::kReady) continue;
    if (failure_.ok()) failure_ = Deadlock();
    return give(d);
  }
}

absl::Status DeviceMesh::Deadlock() const {
  std::string who, finished;
  int named = 0, hidden = 0, done = 0;
  for (int64_t d = 0; d < device_count(); ++d) {
    const Slot& slot = *slots_[d];
    if (slot.state == State::kDone) {
      ++done;
      if (done <= kMaxNamed)
        StrAppend(&finished, finished.empty() ? "" : "; ", devices_[d]->name());
    } else if (slot.state == State::kWaiting && ++named <= kMaxNamed) {
      StrAppend(&who, who.empty() ? "" : "; ", device_count() == 1 ? "it" : devices_[d]->name(),
                " waits in ", slot.for_what());
    } else {
      ++hidden;
    }
  }
  if (hidden > 0) StrAppend(&who, "; and ", hidden, " more wait");
  if (done > 0)
    StrAppend(&who, "; ", finished,
              done > kMaxNamed ? StrCat(" and ", done - kMaxNamed, " more") : "",
              done == 1 ? " has finished" : " have finished");
  return MakeError(ErrorClass::kRejected, StrCat("deadlock: no device can go on: ", who));
}

void DeviceMesh::Fail(int64_t device, const absl::Status& status) {
  failure_ = absl::Status(status.code(),
                          ToAbsl(StrCat(devices_[device]->name(), ": ", ToStd(status.message()))));
  status.ForEachPayload(
      [&](absl::string_view key, const absl::Cord& value) { failure_.SetPayload(key, value); });
}

}  // namespace assay::reference
