// Clocks are vectors, as for threads: work B comes after work A if A's place on its stream is
// within what B's stream knows of it.
#include "optimized/gpu/streams/simulated_streams.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "spec/base/status_macros.h"

namespace assay::gpu {
namespace {

// Numbers of streams and events of launched graphs are from here on.
constexpr uint64_t kFirstPrivate = uint64_t{1} << 62;

bool Overlap(const ByteRange& a, const ByteRange& b) {
  return a.address < b.address + b.bytes && b.address < a.address + a.bytes;
}
bool Holds(const ByteRange& outer, const ByteRange& inner) {
  return outer.address <= inner.address &&
         inner.address + inner.bytes <= outer.address + outer.bytes;
}
const char* Verb(bool is_write) { return is_write ? "writes" : "reads"; }

}  // namespace

void SimulatedStreams::Join(Clock& to, const Clock& from) {
  for (const auto& [stream, position] : from) {
    uint64_t& known = to[stream];
    known = std::max(known, position);
  }
}

SimulatedStreams::Stream& SimulatedStreams::At(uint64_t stream) { return streams_[stream]; }

bool SimulatedStreams::IsKnownDone(const Access& access) const {
  const auto known = host_.find(access.stream);
  return known != host_.end() && access.position <= known->second;
}

absl::Status SimulatedStreams::Check(uint64_t stream, const std::shared_ptr<const StreamWork>& work,
                                     const ByteRange& range, bool is_write) {
  const Clock& clock = At(stream).clock;
  for (const Access& before : accesses_) {
    if (before.stream == stream || (!is_write && !before.is_write)) continue;
    if (!Overlap(before.range, range) || IsKnownDone(before)) continue;
    const auto known = clock.find(before.stream);
    if (known != clock.end() && before.position <= known->second) continue;
    return absl::InternalError(absl::StrCat(
        "missing stream dependency: ", work->name, " on stream ", stream, " ", Verb(is_write), " ",
        range.bytes, " bytes at 0x", absl::Hex(range.address), ", which ", before.work->name,
        " on stream ", before.stream, " ", Verb(before.is_write), ", and no event orders the two"));
  }
  return absl::OkStatus();
}

// A write stands for all before it that touched nothing else: whoever is not ordered after those
// is not ordered after it.
void SimulatedStreams::Note(uint64_t stream, uint64_t position,
                            const std::shared_ptr<const StreamWork>& work, const ByteRange& range,
                            bool is_write) {
  std::erase_if(accesses_, [&](const Access& before) {
    const bool is_covered = is_write || (before.stream == stream && !before.is_write);
    return (is_covered && before.position != position && Holds(range, before.range)) ||
           IsKnownDone(before);
  });
  accesses_.push_back({range, is_write, stream, position, work});
}

absl::Status SimulatedStreams::Put(uint64_t stream, const std::shared_ptr<const StreamWork>& work) {
  ASSAY_RETURN_IF_ERROR(failure_);
  Stream& to = At(stream);
  Join(to.clock, host_);
  const auto is_something = [](const ByteRange& range) { return range.bytes > 0; };
  for (const ByteRange& range : work->reads)
    if (is_something(range)) ASSAY_RETURN_IF_ERROR(failure_ = Check(stream, work, range, false));
  for (const ByteRange& range : work->writes)
    if (is_something(range)) ASSAY_RETURN_IF_ERROR(failure_ = Check(stream, work, range, true));
  to.clock[stream] = ++to.position;
  for (const ByteRange& range : work->reads)
    if (is_something(range)) Note(stream, to.position, work, range, false);
  for (const ByteRange& range : work->writes)
    if (is_something(range)) Note(stream, to.position, work, range, true);
  to.items.push_back({StreamCommand::Kind::kWork, 0, to.position, host_time_, work});
  return absl::OkStatus();
}

absl::Status SimulatedStreams::Enqueue(uint64_t stream, StreamWork work) {
  auto shared = std::make_shared<const StreamWork>(std::move(work));
  if (Capture* capture = CaptureOf(stream); capture != nullptr) {
    ++capture->streams[stream].commands;
    capture->graph.commands.push_back({StreamCommand::Kind::kWork, stream, 0, std::move(shared)});
    return failure_;
  }
  return Put(stream, shared);
}

absl::Status SimulatedStreams::Record(uint64_t event, uint64_t stream) {
  ASSAY_RETURN_IF_ERROR(failure_);
  if (Capture* capture = CaptureOf(stream); capture != nullptr) {
    capture->graph.commands.push_back({StreamCommand::Kind::kRecord, stream, event, nullptr});
    capture->events[event] = {stream, capture->streams[stream].commands};
    return absl::OkStatus();
  }
  if (capture_ != nullptr) capture_->events.erase(event);
  Stream& from = At(stream);
  Join(from.clock, host_);
  const uint64_t number = next_recording_++;
  recordings_[number] = {from.clock, false, stream, 0};
  latest_[event] = number;
  from.items.push_back({StreamCommand::Kind::kRecord, number, 0, host_time_, nullptr});
  return absl::OkStatus();
}

absl::Status SimulatedStreams::Wait(uint64_t stream, uint64_t event) {
  ASSAY_RETURN_IF_ERROR(failure_);
  if (capture_ != nullptr && capture_->events.contains(event)) {
    // A stream that waits for what is captured is captured, too.
    const CapturedEvent& at = capture_->events.at(event);
    if (at.stream != stream) {
      ++capture_->streams[stream].commands;
      Branch& from = capture_->streams[at.stream];
      from.joined = std::max(from.joined, at.commands);
    }
    capture_->graph.commands.push_back({StreamCommand::Kind::kWait, stream, event, nullptr});
    return absl::OkStatus();
  }
  if (CaptureOf(stream) != nullptr) {
    return absl::FailedPreconditionError(
        "a captured stream waits for an event outside of the graph");
  }
  const auto latest = latest_.find(event);
  if (latest == latest_.end()) {
    return absl::FailedPreconditionError("a stream waits for an event that was never recorded");
  }
  Stream& to = At(stream);
  Join(to.clock, recordings_.at(latest->second).clock);
  to.items.push_back({StreamCommand::Kind::kWait, latest->second, 0, host_time_, nullptr});
  return absl::OkStatus();
}

bool SimulatedStreams::CanGoOn(const Stream& stream) const {
  if (stream.items.empty()) return false;
  const Item& next = stream.items.front();
  if (next.kind == StreamCommand::Kind::kWait) return recordings_.at(next.recording).is_done;
  return next.work == nullptr || next.work->is_ready == nullptr || next.work->is_ready();
}

absl::Status SimulatedStreams::Step(Stream& stream) {
  const Item item = std::move(stream.items.front());
  stream.items.pop_front();
  stream.time = std::max(stream.time, item.not_before);
  if (item.kind != StreamCommand::Kind::kWork) {
    Recording& recording = recordings_.at(item.recording);
    if (item.kind == StreamCommand::Kind::kWait) {
      stream.time = std::max(stream.time, recording.time);
    } else {
      recording.is_done = true;
      recording.time = stream.time;
    }
    return absl::OkStatus();
  }
  stream.done = item.position;
  if (item.work->run == nullptr) return absl::OkStatus();
  running_ = &stream;
  const absl::Status status = item.work->run();
  running_ = nullptr;
  return status;
}

void SimulatedStreams::Spend(uint64_t picoseconds) {
  (running_ != nullptr ? *running_ : At(0)).time += picoseconds;
}

uint64_t SimulatedStreams::Time() const {
  uint64_t latest = host_time_;
  for (const auto& [number, stream] : streams_) latest = std::max(latest, stream.time);
  return latest;
}

bool SimulatedStreams::WaitsForOthers() const {
  return std::any_of(streams_.begin(), streams_.end(), [](const auto& entry) {
    const std::deque<Item>& items = entry.second.items;
    return !items.empty() && items.front().work != nullptr &&
           items.front().work->is_ready != nullptr;
  });
}

absl::Status SimulatedStreams::RunUntil(const std::function<bool()>& is_enough, bool may_wait) {
  // Nothing that waits longer comes to an end.
  constexpr auto kLongest = std::chrono::seconds(20);
  const auto start = std::chrono::steady_clock::now();
  while (failure_.ok() && !is_enough()) {
    std::vector<Stream*> ready;
    for (auto& [number, stream] : streams_)
      if (CanGoOn(stream)) ready.push_back(&stream);
    if (!ready.empty()) {
      failure_ = Step(*ready[ready.size() == 1 ? 0 : random_() % ready.size()]);
      continue;
    }
    if (!WaitsForOthers()) return absl::InternalError("streams wait for each other");
    if (!may_wait) return absl::OkStatus();
    if (std::chrono::steady_clock::now() - start > kLongest)
      failure_ = absl::DeadlineExceededError("work waits for a device that does not come");
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  if (!failure_.ok()) Drop();
  return failure_;
}

absl::Status SimulatedStreams::Synchronise(uint64_t stream) {
  if (IsCaptured(stream)) return absl::FailedPreconditionError("a captured stream is waited for");
  Stream& at = At(stream);
  ASSAY_RETURN_IF_ERROR(RunUntil([&] { return at.items.empty(); }));
  Join(host_, at.clock);
  host_time_ = std::max(host_time_, at.time);
  std::erase_if(accesses_, [&](const Access& access) { return IsKnownDone(access); });
  if (accesses_.empty() && recordings_.size() > latest_.size() + 64) Tidy();
  return absl::OkStatus();
}

absl::Status SimulatedStreams::Advance(uint64_t stream) {
  if (IsCaptured(stream)) return absl::FailedPreconditionError("a captured stream is waited for");
  const Stream& at = At(stream);
  return RunUntil([&] { return at.items.empty(); }, /*may_wait=*/false);
}

absl::StatusOr<bool> SimulatedStreams::Query(uint64_t stream) {
  ASSAY_RETURN_IF_ERROR(Advance(stream));
  if (!At(stream).items.empty()) return false;
  ASSAY_RETURN_IF_ERROR(Synchronise(stream));
  return true;
}

void SimulatedStreams::Tidy() {
  for (const auto& [number, stream] : streams_)
    if (!stream.items.empty()) return;
  const auto is_private = [](const auto& entry) { return entry.first >= kFirstPrivate; };
  std::erase_if(latest_, is_private);
  std::erase_if(streams_, is_private);
  std::erase_if(host_, is_private);
  for (auto& [number, stream] : streams_) std::erase_if(stream.clock, is_private);
  std::map<uint64_t, Recording> kept;
  for (const auto& [event, number] : latest_) kept[number] = recordings_.at(number);
  recordings_ = std::move(kept);
}

absl::Status SimulatedStreams::SynchroniseAll() {
  std::vector<uint64_t> numbers;
  for (const auto& [number, stream] : streams_) numbers.push_back(number);
  for (const uint64_t number : numbers) ASSAY_RETURN_IF_ERROR(Synchronise(number));
  return failure_;
}

void SimulatedStreams::Drop() {
  for (auto& [number, stream] : streams_) stream.items.clear();
  accesses_.clear();
}

// ---- graphs ----

SimulatedStreams::Capture* SimulatedStreams::CaptureOf(uint64_t stream) {
  return IsCaptured(stream) ? capture_.get() : nullptr;
}

bool SimulatedStreams::IsCaptured(uint64_t stream) const {
  return capture_ != nullptr && capture_->streams.contains(stream);
}

absl::Status SimulatedStreams::BeginCapture(uint64_t stream) {
  ASSAY_RETURN_IF_ERROR(failure_);
  if (capture_ != nullptr) return absl::FailedPreconditionError("a capture within a capture");
  capture_ = std::make_unique<Capture>();
  capture_->graph.origin = stream;
  capture_->streams[stream] = {};
  return absl::OkStatus();
}

absl::StatusOr<CapturedGraph> SimulatedStreams::EndCapture(uint64_t stream) {
  if (capture_ == nullptr || capture_->graph.origin != stream) {
    return absl::FailedPreconditionError("no capture began on the stream");
  }
  const std::unique_ptr<Capture> ended = std::move(capture_);
  for (const auto& [number, branch] : ended->streams) {
    if (number != stream && branch.joined < branch.commands) {
      return absl::FailedPreconditionError(absl::StrCat(
          "stream ", number, " was captured and did not come back to stream ", stream));
    }
  }
  return std::move(ended->graph);
}

absl::Status SimulatedStreams::Launch(const CapturedGraph& graph, uint64_t stream) {
  ASSAY_RETURN_IF_ERROR(failure_);
  if (IsCaptured(stream)) return absl::FailedPreconditionError("a graph within a graph");
  // Streams and events of the graph are its own.
  std::map<uint64_t, uint64_t> streams = {{graph.origin, stream}}, events;
  const auto mine = [&](std::map<uint64_t, uint64_t>& map, uint64_t number) {
    const auto [place, is_new] = map.emplace(number, next_private_);
    if (is_new) ++next_private_;
    return place->second;
  };
  for (const StreamCommand& command : graph.commands) {
    const uint64_t on = mine(streams, command.stream);
    switch (command.kind) {
      case StreamCommand::Kind::kWork:
        ASSAY_RETURN_IF_ERROR(Put(on, command.work));
        break;
      case StreamCommand::Kind::kRecord:
        ASSAY_RETURN_IF_ERROR(Record(mine(events, command.event), on));
        break;
      case StreamCommand::Kind::kWait:
        ASSAY_RETURN_IF_ERROR(Wait(on, mine(events, command.event)));
        break;
    }
  }
  return absl::OkStatus();
}

}  // namespace assay::gpu
