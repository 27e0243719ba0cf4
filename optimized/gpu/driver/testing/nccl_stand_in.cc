// A stand-in for libnccl in tests, in the library that stands in for the driver: communicators of
// devices of this process, whose ranks bring each other their data by memory that they share. What
// a rank sends is taken from its stream as soon as the call is made, as by a device that is fast;
// what it receives waits in the stream for its partners, or until the communicator is aborted,
// while whoever asks the stream learns that it is not done. It notes communicators that are not
// there or are another device's, ranks that disagree, groups that nobody began or ended, arrays
// that are not the device's or overlap, and what is left.
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "optimized/gpu/driver/libraries/nccl_calls.h"
#include "optimized/gpu/driver/testing/stand_in_state.h"
#include "spec/base/status_macros.h"
#include "spec/types/native.h"

namespace assay::gpu {
namespace {

using Bytes = std::vector<std::byte>;
enum class Collects : uint8_t { kAllReduce, kAllGather, kReduceScatter, kSend, kReceive };

// One collective of a communicator: what each rank brought, and as what.
struct PretendMeeting {
  std::map<int, Bytes> brought;
  std::string call;  // of the rank that came first
  int left = 0;
};

// All ranks of a communicator.
struct PretendCommunicators {
  int ranks = 0;
  std::mutex mutex;
  std::condition_variable changed;
  std::set<int> there, devices;
  std::map<uint64_t, PretendMeeting> meetings;                   // by number
  std::map<std::array<int, 2>, std::map<uint64_t, Bytes>> sent;  // by sender and receiver
  bool is_aborted = false;
  NcclResult error = kNcclSuccess;

  void Disagree(const std::string& what) {
    NoteMisuse(what);
    error = kNcclInvalidUsage;
    changed.notify_all();
  }
};

struct PretendComm {
  std::shared_ptr<PretendCommunicators> all;
  int rank = 0, device = 0;
  uint64_t meetings = 0;
  std::map<int, uint64_t> sent, received;  // by peer
  std::shared_ptr<std::atomic<int>> pending = std::make_shared<std::atomic<int>>(0);
};

// A call, from when it is made until its group ends.
struct PretendCall {
  Collects kind = Collects::kSend;
  const char* name = "";
  uint64_t from = 0, to = 0, from_bytes = 0, to_bytes = 0;
  size_t count = 0;
  int type = 0, operation = 0, peer = -1;
  PretendComm* comm = nullptr;
  CudaHandle stream = nullptr;
  uint64_t number = 0;  // of the meeting, or of what goes between two
};

struct PretendNccl {
  std::mutex mutex;
  std::map<NcclComm, std::unique_ptr<PretendComm>> comms;
  std::map<uint64_t, std::shared_ptr<PretendCommunicators>> unique;  // by number of the id
  uint64_t next = 1;
};
PretendNccl& TheNccl() {
  static auto& nccl = *new PretendNccl();
  return nccl;
}
struct OpenGroup {
  int depth = 0;
  std::vector<PretendCall> calls;
  std::vector<PretendComm*> begun;  // made in it
  NcclResult failed = kNcclSuccess;
};
thread_local OpenGroup open_group;

const bool registered = [] {
  RegisterLeaks({[] {
                   const std::lock_guard<std::mutex> lock(TheNccl().mutex);
                   for (size_t k = 0; k < TheNccl().comms.size(); ++k)
                     NoteMisuse("leaked: a communicator");
                   if (open_group.depth != 0) NoteMisuse("leaked: a group that nobody ended");
                 },
                 [] {
                   const std::lock_guard<std::mutex> lock(TheNccl().mutex);
                   TheNccl().comms.clear();
                   TheNccl().unique.clear();
                   open_group = {};
                 }});
  return true;
}();

NcclResult Wrong(const std::string& what) {
  NoteMisuse(what);
  open_group.failed = kNcclInvalidUsage;
  return kNcclInvalidUsage;
}

// By how much a call is bent on all devices, or on this one alone: "ncclSend@1".
int64_t BendHere(const char* name) {
  return BendOf(name) + BendOf(absl::StrCat(name, "@", CurrentDeviceNumber()).c_str());
}

size_t BytesOfType(int type) {
  constexpr size_t kBytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
  return type < 0 || type > kNcclBFloat16 ? 0 : kBytes[type];
}

// ---- what reductions do ----

template <typename T>
T Apply(T a, T b, int operation) {
  switch (operation) {
    case kNcclSum:
      return static_cast<T>(a + b);
    case kNcclProd:
      return static_cast<T>(a * b);
    case kNcclMax:
      return a < b ? b : a;  // a NaN goes
    default:
      return b < a ? b : a;
  }
}
template <typename T, typename Wide = T>
void ReduceAs(Bytes& onto, const Bytes& from, int operation) {
  for (size_t at = 0; at + sizeof(T) <= onto.size(); at += sizeof(T)) {
    T a{}, b{};
    std::memcpy(&a, onto.data() + at, sizeof(T));
    std::memcpy(&b, from.data() + at, sizeof(T));
    a = T(Apply<Wide>(static_cast<Wide>(a), static_cast<Wide>(b), operation));
    std::memcpy(onto.data() + at, &a, sizeof(T));
  }
}
void Reduce(Bytes& onto, const Bytes& from, int type, int operation) {
  switch (type) {
    case kNcclInt8:
    case kNcclUint8: {
      if (type == kNcclInt8 && operation >= kNcclMax)
        return ReduceAs<int8_t>(onto, from, operation);
      return ReduceAs<uint8_t>(onto, from, operation);
    }
    case kNcclInt32: {
      if (operation >= kNcclMax) return ReduceAs<int32_t>(onto, from, operation);
      return ReduceAs<uint32_t>(onto, from, operation);
    }
    case kNcclUint32:
      return ReduceAs<uint32_t>(onto, from, operation);
    case kNcclInt64: {
      if (operation >= kNcclMax) return ReduceAs<int64_t>(onto, from, operation);
      return ReduceAs<uint64_t>(onto, from, operation);
    }
    case kNcclUint64:
      return ReduceAs<uint64_t>(onto, from, operation);
    case kNcclFloat16:
      return ReduceAs<Half, float>(onto, from, operation);
    case kNcclBFloat16:
      return ReduceAs<BFloat16, float>(onto, from, operation);
    case kNcclFloat32:
      return ReduceAs<float>(onto, from, operation);
    default:
      return ReduceAs<double>(onto, from, operation);
  }
}

// The result of a rank. Reductions go from the last rank down: another order than the caller's.
Bytes ResultOf(const PretendCall& call, int ranks, const PretendMeeting& meeting) {
  if (call.kind == Collects::kAllGather) {
    Bytes all;
    for (int r = 0; r < ranks; ++r)
      all.insert(all.end(), meeting.brought.at(r).begin(), meeting.brought.at(r).end());
    return all;
  }
  Bytes sum = meeting.brought.at(ranks - 1);
  for (int r = ranks - 2; r >= 0; --r)
    Reduce(sum, meeting.brought.at(r), call.type, call.operation);
  if (call.kind == Collects::kAllReduce) return sum;
  const auto begin = sum.begin() + static_cast<std::ptrdiff_t>(call.to_bytes) * call.comm->rank;
  return Bytes(begin, begin + static_cast<std::ptrdiff_t>(call.to_bytes));
}

// ---- a call on its stream ----

std::string Describe(const PretendCall& call) {
  return absl::StrCat(call.name, " of ", call.count, " elements of type ", call.type,
                      call.kind == Collects::kAllGather ? "" : ", operation ",
                      call.kind == Collects::kAllGather ? "" : absl::StrCat(call.operation));
}

absl::Status Bring(const PretendCall& call, DeviceMemory& memory) {
  Bytes bytes(call.from_bytes);
  ASSAY_RETURN_IF_ERROR(memory.CopyOut(call.from, absl::MakeSpan(bytes)));
  PretendCommunicators& all = *call.comm->all;
  const std::lock_guard<std::mutex> lock(all.mutex);
  if (call.kind == Collects::kSend) {
    all.sent[{call.comm->rank, call.peer}][call.number] = std::move(bytes);
  } else {
    PretendMeeting& meeting = all.meetings[call.number];
    if (meeting.call.empty()) meeting.call = Describe(call);
    if (meeting.call != Describe(call))
      all.Disagree(absl::StrCat("ranks disagree: ", meeting.call, ", and ", Describe(call)));
    meeting.brought[call.comm->rank] = std::move(bytes);
  }
  all.changed.notify_all();
  return absl::OkStatus();
}

// True if what the call receives is there, or never will be.
bool MayTake(const PretendCall& call, PretendCommunicators& all) {
  const std::lock_guard<std::mutex> lock(all.mutex);
  if (all.is_aborted) return true;
  // An error that ranks are told of when they ask ends nothing by itself.
  if (call.kind == Collects::kReceive)
    return all.sent[{call.peer, call.comm->rank}].contains(call.number);
  return all.meetings[call.number].brought.size() == static_cast<size_t>(all.ranks);
}

// A call that was aborted leaves no result of anybody's.
absl::Status Take(const PretendCall& call, DeviceMemory& memory,
                  const std::shared_ptr<PretendCommunicators>& all) {
  Bytes result(call.to_bytes, std::byte{0xa5});
  {
    const std::lock_guard<std::mutex> lock(all->mutex);
    if (!all->is_aborted && all->error == kNcclSuccess) {
      if (call.kind == Collects::kReceive) {
        auto& sent = all->sent[{call.peer, call.comm->rank}];
        result = sent[call.number];
        sent.erase(call.number);
      } else {
        PretendMeeting& meeting = all->meetings[call.number];
        result = ResultOf(call, all->ranks, meeting);
        if (++meeting.left == all->ranks) all->meetings.erase(call.number);
      }
    }
    if (result.size() != call.to_bytes) {
      all->Disagree(absl::StrCat(call.name, ": ", call.to_bytes, " bytes are received, ",
                                 result.size(), " were sent"));
      result.resize(call.to_bytes);
    }
  }
  return memory.CopyIn(call.to, result);
}

bool IsPutInPlace(const PretendCall& call) {
  if (call.kind == Collects::kAllReduce) return call.from == call.to;
  const auto rank = static_cast<uint64_t>(call.comm->rank);
  if (call.kind == Collects::kAllGather) return call.from == call.to + rank * call.from_bytes;
  return call.kind == Collects::kReduceScatter && call.to == call.from + rank * call.to_bytes;
}

bool Overlap(const PretendCall& sender, const PretendCall& receiver) {
  return sender.from < receiver.to + receiver.to_bytes &&
         receiver.to < sender.from + sender.from_bytes;
}

NcclResult CheckCalls(const std::vector<PretendCall>& calls) {
  for (const PretendCall& sender : calls) {
    for (const PretendCall& receiver : calls) {
      if (!Overlap(sender, receiver) || (&sender == &receiver && IsPutInPlace(sender))) continue;
      return Wrong(absl::StrCat(receiver.name, ": receives where ", sender.name, " sends from"));
    }
  }
  return kNcclSuccess;
}

// Puts calls on their streams: first all that they send.
NcclResult PutCalls(const std::vector<PretendCall>& calls) {
  if (const NcclResult checked = CheckCalls(calls); checked != kNcclSuccess) return checked;
  DeviceMemory& memory = StandInMemory();
  for (const PretendCall& call : calls) {
    if (call.kind == Collects::kReceive) continue;
    const StreamWork work{call.name, {{call.from, call.from_bytes}}, {}, [call, &memory] {
                            return Bring(call, memory);
                          }};
    if (PutOnStream(call.stream, work) != 0 || AdvanceStream(call.stream) != 0)
      return kNcclUnhandledCudaError;
  }
  for (const PretendCall& call : calls) {
    if (call.kind == Collects::kSend) continue;
    ++*call.comm->pending;
    const StreamWork work{call.name,
                          {},
                          {{call.to, call.to_bytes}},
                          [call, &memory, all = call.comm->all, pending = call.comm->pending] {
                            const absl::Status status = Take(call, memory, all);
                            --*pending;
                            return status;
                          },
                          [call, all = call.comm->all] { return MayTake(call, *all); }};
    if (PutOnStream(call.stream, work) != 0) return kNcclUnhandledCudaError;
  }
  return kNcclSuccess;
}

PretendComm* FindComm(NcclComm comm) {
  const std::lock_guard<std::mutex> lock(TheNccl().mutex);
  const auto found = TheNccl().comms.find(comm);
  return found == TheNccl().comms.end() ? nullptr : found->second.get();
}

// A call that sends or receives. Its numbers are as they were given; bytes are worked out here.
NcclResult Collect(PretendCall call, NcclComm comm) {
  if (const int entered = EnterStandIn(call.name); entered != 0) {
    open_group.failed = kNcclUnhandledCudaError;
    return kNcclUnhandledCudaError;
  }
  call.comm = FindComm(comm);
  if (call.comm == nullptr) return Wrong(absl::StrCat(call.name, ": no such communicator"));
  if (call.comm->device != CurrentDeviceNumber())
    return Wrong(absl::StrCat(call.name, ": the context is that of device ", CurrentDeviceNumber(),
                              ", the communicator is of device ", call.comm->device));
  if (!HasStandInStream(call.stream))
    return Wrong(absl::StrCat(call.name, ": a stream that is not the device's"));
  const int ranks = call.comm->all->ranks;
  const bool has_peer = call.kind == Collects::kSend || call.kind == Collects::kReceive;
  if (has_peer) call.peer += static_cast<int>(BendHere(call.name));
  if (has_peer && (call.peer < 0 || call.peer >= ranks))
    return Wrong(absl::StrCat(call.name, ": rank ", call.peer, " of ", ranks));
  if (!has_peer) call.count += static_cast<size_t>(BendHere(call.name));
  if (BytesOfType(call.type) == 0 || call.operation < kNcclSum || call.operation > kNcclMin)
    return Wrong(absl::StrCat(call.name, ": no such type or operation"));
  const uint64_t bytes = call.count * BytesOfType(call.type), all = bytes * ranks;
  if (call.kind != Collects::kReceive)
    call.from_bytes = call.kind == Collects::kReduceScatter ? all : bytes;
  if (call.kind != Collects::kSend) call.to_bytes = call.kind == Collects::kAllGather ? all : bytes;
  if ((call.from_bytes > 0 && StandInMemory().HostAddress(call.from, call.from_bytes) == nullptr) ||
      (call.to_bytes > 0 && StandInMemory().HostAddress(call.to, call.to_bytes) == nullptr))
    return Wrong(absl::StrCat(call.name, ": an array that is not the device's memory"));
  call.number = call.kind == Collects::kSend      ? call.comm->sent[call.peer]++
                : call.kind == Collects::kReceive ? call.comm->received[call.peer]++
                                                  : call.comm->meetings++;
  if (open_group.depth == 0) return PutCalls({call});
  open_group.calls.push_back(call);
  return kNcclSuccess;
}

// Ends a communicator, which stays no longer than the call.
NcclResult End(const char* name, NcclComm comm, bool aborts) {
  const std::lock_guard<std::mutex> lock(TheNccl().mutex);
  const auto found = TheNccl().comms.find(comm);
  if (found == TheNccl().comms.end()) return Wrong(absl::StrCat(name, ": no such communicator"));
  PretendCommunicators& all = *found->second->all;
  {
    const std::lock_guard<std::mutex> all_lock(all.mutex);
    if (aborts) all.is_aborted = true;
    if (!aborts && *found->second->pending > 0)
      NoteMisuse(absl::StrCat(name, ": the communicator is in use"));
    all.changed.notify_all();
  }
  // Work on streams may still refer to it.
  static auto& ended = *new std::vector<std::unique_ptr<PretendComm>>();
  ended.push_back(std::move(found->second));
  TheNccl().comms.erase(found);
  return kNcclSuccess;
}

// All ranks of what was made in a group must have come by its end.
NcclResult Complete(const std::vector<PretendComm*>& begun) {
  for (const PretendComm* comm : begun) {
    std::unique_lock<std::mutex> lock(comm->all->mutex);
    const bool is_whole = comm->all->changed.wait_for(lock, std::chrono::seconds(5), [&] {
      return comm->all->is_aborted ||
             comm->all->there.size() == static_cast<size_t>(comm->all->ranks);
    });
    if (!is_whole) return Wrong("ncclCommInitRank: some ranks never came");
  }
  return kNcclSuccess;
}

}  // namespace
}  // namespace assay::gpu

using namespace assay::gpu;  // the calls below have the names of C

extern "C" {

NcclResult ncclGetVersion(int* version) {
  *version = 22703;
  return kNcclSuccess;
}

const char* ncclGetErrorString(NcclResult) { return "an error of the stand-in"; }

NcclResult ncclGetUniqueId(NcclUniqueId* id) {
  if (EnterStandIn("ncclGetUniqueId") != 0) return kNcclSystemError;
  const std::lock_guard<std::mutex> lock(TheNccl().mutex);
  const uint64_t number = TheNccl().next++;
  std::memset(id->bytes, 0, sizeof id->bytes);
  std::memcpy(id->bytes, &number, sizeof number);
  TheNccl().unique[number] = std::make_shared<PretendCommunicators>();
  return kNcclSuccess;
}

NcclResult ncclCommInitRank(NcclComm* made, int ranks, NcclUniqueId id, int rank) {
  if (EnterStandIn("ncclCommInitRank") != 0) {
    open_group.failed = kNcclUnhandledCudaError;
    return kNcclUnhandledCudaError;
  }
  uint64_t number = 0;
  std::memcpy(&number, id.bytes, sizeof number);
  rank += static_cast<int>(BendHere("ncclCommInitRank"));
  auto comm = std::make_unique<PretendComm>();
  {
    const std::lock_guard<std::mutex> lock(TheNccl().mutex);
    const auto found = TheNccl().unique.find(number);
    if (found == TheNccl().unique.end()) return Wrong("ncclCommInitRank: no such id");
    comm->all = found->second;
  }
  comm->rank = rank;
  comm->device = CurrentDeviceNumber();
  {
    const std::lock_guard<std::mutex> lock(comm->all->mutex);
    if (comm->all->there.empty()) comm->all->ranks = ranks;
    if (rank < 0 || rank >= ranks || ranks != comm->all->ranks ||
        !comm->all->there.insert(rank).second || !comm->all->devices.insert(comm->device).second)
      return Wrong(absl::StrCat("ncclCommInitRank: rank ", rank, " of ", ranks, " on device ",
                                comm->device, ": not one of each"));
    comm->all->changed.notify_all();
  }
  PretendComm* const kept = comm.get();
  *made = kept;
  {
    const std::lock_guard<std::mutex> lock(TheNccl().mutex);
    TheNccl().comms.emplace(kept, std::move(comm));
  }
  if (open_group.depth == 0) return Complete({kept});
  open_group.begun.push_back(kept);
  return kNcclSuccess;
}

// Ending calls do their work even where they are told to fail.
NcclResult ncclCommDestroy(NcclComm comm) {
  const int entered = EnterStandInAnywhere("ncclCommDestroy");
  const NcclResult ended = End("ncclCommDestroy", comm, false);
  return entered != 0 ? kNcclUnhandledCudaError : ended;
}

NcclResult ncclCommAbort(NcclComm comm) {
  const int entered = EnterStandInAnywhere("ncclCommAbort");
  const NcclResult ended = End("ncclCommAbort", comm, true);
  return entered != 0 ? kNcclUnhandledCudaError : ended;
}

NcclResult ncclCommGetAsyncError(NcclComm comm, NcclResult* error) {
  if (EnterStandIn("ncclCommGetAsyncError") != 0) return kNcclUnhandledCudaError;
  const PretendComm* found = FindComm(comm);
  if (found == nullptr) return Wrong("ncclCommGetAsyncError: no such communicator");
  const std::lock_guard<std::mutex> lock(found->all->mutex);
  const auto bent = static_cast<NcclResult>(BendHere("ncclCommGetAsyncError"));
  *error = bent != kNcclSuccess ? bent : found->all->error;
  return kNcclSuccess;
}

NcclResult ncclGroupStart() {
  if (EnterStandInAnywhere("ncclGroupStart") != 0) return kNcclUnhandledCudaError;
  ++open_group.depth;
  return kNcclSuccess;
}

NcclResult ncclGroupEnd() {
  const int entered = EnterStandInAnywhere("ncclGroupEnd");
  if (open_group.depth == 0) return Wrong("ncclGroupEnd: no group has begun");
  if (BendOf("ncclGroupEnd") != 0) return kNcclSuccess;
  if (--open_group.depth > 0) return kNcclSuccess;
  const OpenGroup ended = std::exchange(open_group, {});
  if (entered != 0) return kNcclUnhandledCudaError;
  if (ended.failed != kNcclSuccess) return ended.failed;
  if (const NcclResult whole = Complete(ended.begun); whole != kNcclSuccess) return whole;
  return ended.calls.empty() ? kNcclSuccess : PutCalls(ended.calls);
}

static uint64_t AddressOf(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

NcclResult ncclAllReduce(const void* from, void* to, size_t count, int type, int operation,
                         NcclComm comm, void* stream) {
  return Collect({.kind = Collects::kAllReduce,
                  .name = "ncclAllReduce",
                  .from = AddressOf(from),
                  .to = AddressOf(to),
                  .count = count,
                  .type = type,
                  .operation = operation,
                  .stream = stream},
                 comm);
}

NcclResult ncclAllGather(const void* from, void* to, size_t count, int type, NcclComm comm,
                         void* stream) {
  return Collect({.kind = Collects::kAllGather,
                  .name = "ncclAllGather",
                  .from = AddressOf(from),
                  .to = AddressOf(to),
                  .count = count,
                  .type = type,
                  .stream = stream},
                 comm);
}

NcclResult ncclReduceScatter(const void* from, void* to, size_t count, int type, int operation,
                             NcclComm comm, void* stream) {
  return Collect({.kind = Collects::kReduceScatter,
                  .name = "ncclReduceScatter",
                  .from = AddressOf(from),
                  .to = AddressOf(to),
                  .count = count,
                  .type = type,
                  .operation = operation,
                  .stream = stream},
                 comm);
}

NcclResult ncclSend(const void* from, size_t count, int type, int peer, NcclComm comm,
                    void* stream) {
  return Collect({.kind = Collects::kSend,
                  .name = "ncclSend",
                  .from = AddressOf(from),
                  .count = count,
                  .type = type,
                  .peer = peer,
                  .stream = stream},
                 comm);
}

NcclResult ncclRecv(void* to, size_t count, int type, int peer, NcclComm comm, void* stream) {
  return Collect({.kind = Collects::kReceive,
                  .name = "ncclRecv",
                  .to = AddressOf(to),
                  .count = count,
                  .type = type,
                  .peer = peer,
                  .stream = stream},
                 comm);
}

}  // extern "C"
