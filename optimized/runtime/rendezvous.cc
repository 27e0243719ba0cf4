// Devices wait here for each other with one mutex; a wait of all for all is found and reported.
#include "optimized/runtime/rendezvous.h"

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

#include "spec/base/error.h"
#include "spec/base/strings.h"

namespace assay {

Rendezvous::Rendezvous(std::vector<const Meeting*> meetings, std::vector<std::string> device_names,
                       std::string backend)
    : meetings_(std::move(meetings)),
      names_(std::move(device_names)),
      backend_(std::move(backend)),
      devices_(names_.size()),
      places_(meetings_.size(), std::vector<Place>(names_.size())),
      running_(static_cast<int64_t>(names_.size())) {}

std::vector<int64_t> Rendezvous::Missing(int64_t device) const {
  std::vector<int64_t> missing;
  const Device& d = devices_[device];
  if (d.activity == Activity::kRunning || d.activity == Activity::kFinished) return missing;
  const bool arriving = d.activity == Activity::kArriving;
  const Meeting& meeting = *meetings_[d.meeting];
  const std::vector<Place>& places = places_[d.meeting];
  for (int64_t other : (arriving ? meeting.sources : meeting.readers)[device]) {
    const bool there = arriving ? places[other].arrived >= places[device].arrived
                                : places[other].left >= places[device].left;
    if (!there) missing.push_back(other);
  }
  return missing;
}

bool Rendezvous::Wait(std::unique_lock<std::mutex>& lock, int64_t device, Activity activity,
                      int64_t meeting) {
  devices_[device] = {activity, meeting};
  changed_.notify_all();
  if (!Missing(device).empty()) {
    --running_;
    FailIfStuck();
    changed_.wait(lock, [&] { return stopped_ != 0 || Missing(device).empty(); });
    ++running_;
  }
  devices_[device] = {Activity::kRunning, -1};
  return stopped_ == 0;
}

bool Rendezvous::Arrive(int64_t device, int64_t meeting, const void* const* operands,
                        int64_t count) {
  std::unique_lock<std::mutex> lock(mutex_);
  // A device that ends early does not wait for its readers: the data that they look at stays as it
  // is.
  if (stopped_ != 0) return false;
  Place& place = places_[meeting][device];
  ++place.arrived;
  place.operands.assign(operands, operands + count);
  return Wait(lock, device, Activity::kArriving, meeting);
}

bool Rendezvous::Leave(int64_t device, int64_t meeting) {
  std::unique_lock<std::mutex> lock(mutex_);
  ++places_[meeting][device].left;
  return Wait(lock, device, Activity::kLeaving, meeting);
}

void Rendezvous::Finish(int64_t device) {
  std::unique_lock<std::mutex> lock(mutex_);
  devices_[device] = {Activity::kFinished, -1};
  --running_;
  FailIfStuck();
  changed_.notify_all();
}

void Rendezvous::FailIfStuck() {
  if (running_ > 0 || stopped_ != 0) return;
  bool waiting = false;
  for (int64_t d = 0; d < static_cast<int64_t>(devices_.size()); ++d) {
    if (devices_[d].activity == Activity::kFinished) continue;
    if (Missing(d).empty()) return;  // it only has not woken up yet
    waiting = true;
  }
  if (!waiting) return;
  FailLocked(MakeError(ErrorClass::kTimeout, StrCat(backend_, ": ", WhoWaits())));
}

std::string Rendezvous::WhoWaits() const {
  std::string text;
  std::vector<bool> wanted(devices_.size(), false);
  const auto add = [&](std::string_view part) { StrAppend(&text, text.empty() ? "" : "; ", part); };
  for (int64_t d = 0; d < static_cast<int64_t>(devices_.size()); ++d) {
    const std::vector<int64_t> missing = Missing(d);
    if (missing.empty()) continue;
    std::string others;
    for (int64_t other : missing) {
      wanted[other] = true;
      StrAppend(&others, others.empty() ? "" : " and ", names_[other]);
    }
    const int64_t execution = places_[devices_[d].meeting][d].arrived;
    add(StrCat(names_[d], " waits in ", meetings_[devices_[d].meeting]->name,
               execution == 1 ? "" : StrCat(" (execution ", execution, ")"), " for ", others));
  }
  for (int64_t d = 0; d < static_cast<int64_t>(devices_.size()); ++d) {
    if (!wanted[d] || !Missing(d).empty()) continue;
    add(StrCat(names_[d],
               devices_[d].activity == Activity::kFinished ? " has finished" : " still computes"));
  }
  return text;
}

void Rendezvous::FailLocked(absl::Status why) {
  if (stopped_ != 0) return;
  failure_ = std::move(why);
  stopped_ = 1;
  OnStop();
  changed_.notify_all();
}

void Rendezvous::Fail(absl::Status why) {
  std::unique_lock<std::mutex> lock(mutex_);
  FailLocked(std::move(why));
}

absl::Status Rendezvous::WaitForAll(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto all_finished = [&] {
    return std::all_of(devices_.begin(), devices_.end(),
                       [](const Device& d) { return d.activity == Activity::kFinished; });
  };
  if (!changed_.wait_until(lock, deadline, all_finished)) {
    const std::string who = WhoWaits();
    FailLocked(MakeError(ErrorClass::kTimeout,
                         StrCat(backend_, ": the devices did not finish within the time limit",
                                who.empty() ? "" : ": ", who)));
    changed_.wait(lock, all_finished);
  }
  return failure_;
}

absl::Status RunOnThreads(int64_t devices, Rendezvous& rendezvous,
                          std::chrono::steady_clock::time_point deadline,
                          const std::function<void(int64_t device)>& run) {
  std::vector<std::thread> threads;
  for (int64_t d = 0; d < devices; ++d) {
    try {
      threads.emplace_back(run, d);
    } catch (const std::system_error& error) {
      rendezvous.Fail(MakeError(
          ErrorClass::kOutOfMemory,
          StrCat(rendezvous.backend(), ": no thread for device ", d, ": ", error.what())));
      rendezvous.Finish(d);
    }
  }
  const absl::Status status = rendezvous.WaitForAll(deadline);
  for (std::thread& thread : threads) thread.join();
  return status;
}

}  // namespace assay
