// Arrays to a device and back.
#include <algorithm>
#include <cstring>
#include <thread>

#include "fuzz/backends/pjrt/protocol/suite.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/types/element_type.h"

namespace assay::pjrt {
namespace {

// Session::SomeBuffer holds these.
const std::vector<float> kSix = {0, 1, 2, 3, 4, 5};

absl::StatusOr<BufferFromHostArgs> ArgsFor(Session& session, const std::vector<int64_t>& dims,
                                           const void* data) {
  BufferFromHostArgs args{};
  ASSAY_ASSIGN_OR_RETURN(args.client, session.GetClient());
  ASSAY_ASSIGN_OR_RETURN(args.device, session.FirstDevice());
  args.head.struct_size = ASSAY_PJRT_SIZE(BufferFromHostArgs, buffer);
  args.data = data;
  args.type = BufferType::kF32;
  args.dims = dims.data();
  args.dim_count = dims.size();
  return args;
}

absl::Status Same(const std::vector<float>& got, const std::vector<float>& wanted) {
  if (got == wanted) return absl::OkStatus();
  std::string text;
  for (size_t i = 0; i < got.size() && i < 8; ++i) StrAppend(&text, i == 0 ? "" : ", ", got[i]);
  return Violation(StrCat("comes back as ", got.size(), " numbers: ", text));
}

absl::Status RoundTrip(Session& session, BufferType type, const std::vector<int64_t>& dims) {
  const std::optional<ElementType> element = FromBufferType(type);
  if (!element) return NotThere("no array has this type");
  int64_t count = 1;
  for (const int64_t size : dims) count *= size;
  const int64_t width = std::max<int64_t>(BitWidth(*element), 8) / 8;
  std::string data(static_cast<size_t>(count * width), '\0');
  // Codes that every type has: small ones, in the low bits of each number.
  for (int64_t i = 0; i < count; ++i)
    data[static_cast<size_t>(i * width)] = static_cast<char>(i % (BitWidth(*element) < 2 ? 2 : 2));
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.ToDevice(type, dims, data.data()));
  RawArgs told(28, buffer);
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kBufferElementType, told.get()));
  if (told.Integer(24) != static_cast<int>(type))
    return Violation(StrCat("its type comes back as ", told.Integer(24)));
  BufferDimensionsArgs shape{{sizeof(BufferDimensionsArgs), nullptr}, buffer, nullptr, 0};
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kBufferDimensions, &shape));
  if (!std::equal(dims.begin(), dims.end(), shape.dims, shape.dims + shape.dim_count))
    return Violation("its dimensions come back as others");
  ASSAY_ASSIGN_OR_RETURN(const std::string back, session.Bytes(buffer));
  if (back.size() != data.size())
    return Violation(StrCat(data.size(), " bytes come back as ", back.size()));
  if (back != data) return Violation("its bytes come back as others");
  return session.Destroy<BufferArgs>(Function::kBufferDestroy, buffer);
}

absl::Status TakesStrides(Session& session) {
  // Column by column.
  const std::vector<float> columns = {0, 3, 1, 4, 2, 5};
  const std::vector<int64_t> strides = {4, 8};
  ASSAY_ASSIGN_OR_RETURN(BufferFromHostArgs args, ArgsFor(session, {}, columns.data()));
  const std::vector<int64_t> dims = {2, 3};
  args.dims = dims.data();
  args.dim_count = 2;
  args.byte_strides = strides.data();
  args.byte_stride_count = 2;
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kClientBufferFromHostBuffer, &args));
  ASSAY_RETURN_IF_ERROR(session.Await(args.done_with_host_buffer));
  ASSAY_ASSIGN_OR_RETURN(const std::string bytes, session.Bytes(args.buffer));
  std::vector<float> got(bytes.size() / 4);
  std::memcpy(got.data(), bytes.data(), bytes.size());
  // It comes back as it lies on the device, in either order.
  if (got == columns) return absl::OkStatus();
  return Same(got, kSix);
}

// The host's memory may be overwritten when the document says so.
absl::Status KeepsItsCopy(Session& session, int semantics) {
  std::vector<float> data(4096);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
  const std::vector<float> given = data;
  const std::vector<int64_t> dims = {static_cast<int64_t>(data.size())};
  ASSAY_ASSIGN_OR_RETURN(BufferFromHostArgs args, ArgsFor(session, dims, data.data()));
  args.dims = dims.data();
  args.semantics = static_cast<HostBuffer>(semantics);
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kClientBufferFromHostBuffer, &args));
  if (semantics == 0) std::fill(data.begin(), data.end(), -1.0f);
  // Memory that the buffer uses itself is given back when that is destroyed.
  if (semantics < 2) ASSAY_RETURN_IF_ERROR(session.Await(args.done_with_host_buffer));
  if (semantics == 1) std::fill(data.begin(), data.end(), -1.0f);
  ASSAY_ASSIGN_OR_RETURN(const std::vector<float> got, session.ToFloats(args.buffer));
  ASSAY_RETURN_IF_ERROR(session.Destroy<BufferArgs>(Function::kBufferDestroy, args.buffer));
  if (semantics >= 2) ASSAY_RETURN_IF_ERROR(session.Await(args.done_with_host_buffer));
  if (got == given) return absl::OkStatus();
  return Violation("the array changes when the host's memory is written that it has given back");
}

absl::Status IntoMemory(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Device * device, session.FirstDevice());
  RawArgs memory(32, device);
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kDeviceDefaultMemory, memory.get()));
  const std::vector<int64_t> dims = {6};
  ASSAY_ASSIGN_OR_RETURN(BufferFromHostArgs args, ArgsFor(session, dims, kSix.data()));
  args.dims = dims.data();
  args.device = nullptr;
  args.memory = reinterpret_cast<Memory*>(memory.Word(24));
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kClientBufferFromHostBuffer, &args));
  ASSAY_RETURN_IF_ERROR(session.Await(args.done_with_host_buffer));
  RawArgs where(32, args.buffer);
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kBufferMemory, where.get()));
  if (where.Word(24) != memory.Word(24)) return Violation("it lies in another memory");
  ASSAY_ASSIGN_OR_RETURN(const std::vector<float> got, session.ToFloats(args.buffer));
  return Same(got, kSix);
}

absl::Status OnItsDevice(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.SomeBuffer());
  ASSAY_ASSIGN_OR_RETURN(Device * device, session.FirstDevice());
  RawArgs where(32, buffer);
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kBufferDevice, where.get()));
  return where.Address(24) == device ? absl::OkStatus() : Violation("it lies on another device");
}

absl::Status TellsSize(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.SomeBuffer());
  BufferToHostArgs args{};
  args.head.struct_size = ASSAY_PJRT_SIZE(BufferToHostArgs, event);
  args.source = buffer;
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kBufferToHostBuffer, &args));
  if (args.destination_size != 24)
    return Violation(StrCat("24 bytes are said to be ", args.destination_size));
  return absl::OkStatus();
}

absl::Status RefusesLittleRoom(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.SomeBuffer());
  uint8_t room[64] = {};
  BufferToHostArgs args{};
  args.head.struct_size = ASSAY_PJRT_SIZE(BufferToHostArgs, event);
  args.source = buffer;
  args.destination = room;
  args.destination_size = 23;
  ASSAY_RETURN_IF_ERROR(
      session.MustFail(Function::kBufferToHostBuffer, &args, "room for 23 of 24 bytes"));
  for (const uint8_t byte : room)
    if (byte != 0) return Violation("it writes although it refuses");
  return absl::OkStatus();
}

absl::Status ToColumns(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.SomeBuffer());
  const std::vector<int64_t> order = {0, 1};
  MemoryLayout layout{};
  layout.head.struct_size = ASSAY_PJRT_SIZE(MemoryLayout, type);
  layout.tiled.head.struct_size = ASSAY_PJRT_SIZE(TiledLayout, tile_count);
  layout.tiled.minor_to_major = order.data();
  layout.tiled.minor_to_major_size = order.size();
  std::vector<float> got(6);
  BufferToHostArgs args{};
  args.head.struct_size = ASSAY_PJRT_SIZE(BufferToHostArgs, event);
  args.source = buffer;
  args.host_layout = &layout;
  args.destination = got.data();
  args.destination_size = 24;
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kBufferToHostBuffer, &args));
  ASSAY_RETURN_IF_ERROR(session.Await(args.event));
  return Same(got, {0, 3, 1, 4, 2, 5});
}

absl::StatusOr<bool> IsDeleted(Session& session, Buffer* buffer) {
  RawArgs args(25, buffer);
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kBufferIsDeleted, args.get()));
  return args.Byte(24) != 0;
}

// A buffer that was deleted.
absl::StatusOr<Buffer*> Deleted(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.Floats({2, 3}, kSix));
  BufferArgs args{{sizeof(BufferArgs), nullptr}, buffer};
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kBufferDelete, &args));
  return buffer;
}

absl::Status Deletes(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * kept, session.SomeBuffer());
  ASSAY_ASSIGN_OR_RETURN(const bool before, IsDeleted(session, kept));
  if (before) return Violation("a new buffer says that it is deleted");
  ASSAY_ASSIGN_OR_RETURN(Buffer * gone, Deleted(session));
  ASSAY_ASSIGN_OR_RETURN(const bool after, IsDeleted(session, gone));
  if (!after) return Violation("a deleted buffer says that it is not");
  return session.Destroy<BufferArgs>(Function::kBufferDestroy, gone);
}

absl::Status DeletedIsNotRead(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * gone, Deleted(session));
  std::vector<float> room(6);
  BufferToHostArgs args{};
  args.head.struct_size = ASSAY_PJRT_SIZE(BufferToHostArgs, event);
  args.source = gone;
  args.destination = room.data();
  args.destination_size = 24;
  if (session.Call(Function::kBufferToHostBuffer, &args)) return absl::OkStatus();
  if (args.event == nullptr) return Violation("a deleted buffer is read");
  EventArgs event{{sizeof(EventArgs), nullptr}, args.event};
  if (session.Call(Function::kEventAwait, &event)) return absl::OkStatus();
  return Violation("a deleted buffer is read");
}

absl::Status DeletedEventFails(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * gone, Deleted(session));
  RawArgs args(32, gone);
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kBufferReadyEvent, args.get()));
  EventArgs event{{sizeof(EventArgs), nullptr}, reinterpret_cast<Event*>(args.Word(24))};
  return session.MustFail(Function::kEventAwait, &event, "the event of a deleted buffer");
}

absl::Status EarlierEventHolds(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.Floats({2, 3}, kSix));
  RawArgs args(32, buffer);
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kBufferReadyEvent, args.get()));
  BufferArgs gone{{sizeof(BufferArgs), nullptr}, buffer};
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kBufferDelete, &gone));
  EventArgs event{{sizeof(EventArgs), nullptr}, reinterpret_cast<Event*>(args.Word(24))};
  return session.MustWork(Function::kEventAwait, &event, "of a buffer that was deleted later");
}

absl::StatusOr<Buffer*> CopyTo(Session& session, Buffer* buffer, Function function,
                               const void* target, std::optional<Refusal>* refusal) {
  RawArgs args(40, buffer);
  static_cast<uint64_t*>(args.get())[3] = reinterpret_cast<uint64_t>(target);
  ASSAY_RETURN_IF_ERROR(session.Needs({function}));
  *refusal = session.Call(function, args.get());
  return reinterpret_cast<Buffer*>(args.Word(32));
}

absl::Status CopiesToAnother(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.SomeBuffer());
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Device*> devices, session.Devices());
  if (devices.size() < 2) return NotThere("one device");
  std::optional<Refusal> refusal;
  ASSAY_ASSIGN_OR_RETURN(
      Buffer * copy, CopyTo(session, buffer, Function::kBufferCopyToDevice, devices[1], &refusal));
  if (refusal) return Violation(StrCat("PJRT_Buffer_CopyToDevice: ", refusal->Describe()));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<float> got, session.ToFloats(copy));
  return Same(got, kSix);
}

absl::Status RefusesItsOwnDevice(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.SomeBuffer());
  ASSAY_ASSIGN_OR_RETURN(Device * device, session.FirstDevice());
  std::optional<Refusal> refusal;
  ASSAY_RETURN_IF_ERROR(
      CopyTo(session, buffer, Function::kBufferCopyToDevice, device, &refusal).status());
  return refusal ? absl::OkStatus() : Violation("it copies to the device where the buffer is");
}

absl::Status RefusesItsOwnMemory(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.SomeBuffer());
  RawArgs memory(32, buffer);
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kBufferMemory, memory.get()));
  std::optional<Refusal> refusal;
  ASSAY_RETURN_IF_ERROR(
      CopyTo(session, buffer, Function::kBufferCopyToMemory, memory.Address(24), &refusal)
          .status());
  return refusal ? absl::OkStatus() : Violation("it copies to the memory where the buffer is");
}

absl::Status CountsReferences(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.SomeBuffer());
  BufferArgs args{{sizeof(BufferArgs), nullptr}, buffer};
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kBufferIncreaseExternalReferenceCount, &args));
  return session.MustWork(Function::kBufferDecreaseExternalReferenceCount, &args);
}

absl::Status RefusesCountBelowZero(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.SomeBuffer());
  BufferArgs args{{sizeof(BufferArgs), nullptr}, buffer};
  return session.MustFail(Function::kBufferDecreaseExternalReferenceCount, &args,
                          "a reference that nobody took");
}

struct RawToHost {
  Head head;
  Buffer* buffer;
  void* destination;
  int64_t offset, size;
  Event* event;
};

absl::Status CopiesPart(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.SomeBuffer());
  std::vector<float> got(2);
  RawToHost args{{sizeof(RawToHost), nullptr}, buffer, got.data(), 8, 8, nullptr};
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kBufferCopyRawToHost, &args));
  ASSAY_RETURN_IF_ERROR(session.Await(args.event));
  return Same(got, {2, 3});
}

absl::Status RefusesPartBehind(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.SomeBuffer());
  std::vector<float> got(16);
  RawToHost args{{sizeof(RawToHost), nullptr}, buffer, got.data(), 16, 64, nullptr};
  ASSAY_RETURN_IF_ERROR(session.Needs({Function::kBufferCopyRawToHost}));
  if (session.Call(Function::kBufferCopyRawToHost, &args)) return absl::OkStatus();
  EventArgs event{{sizeof(EventArgs), nullptr}, args.event};
  if (args.event != nullptr && session.Call(Function::kEventAwait, &event)) return absl::OkStatus();
  return Violation("it copies bytes behind the buffer's end");
}

absl::Status RefusesType(Session& session, int type) {
  const std::vector<int64_t> dims = {2};
  ASSAY_ASSIGN_OR_RETURN(BufferFromHostArgs args, ArgsFor(session, dims, kSix.data()));
  args.dims = dims.data();
  args.type = static_cast<BufferType>(type);
  return session.MustFail(Function::kClientBufferFromHostBuffer, &args,
                          StrCat("the element type ", type));
}

absl::Status ThreadsTransfer(Session& session) {
  ASSAY_RETURN_IF_ERROR(session.SomeBuffer().status());
  constexpr int kThreads = 4, kTransfers = 50;
  std::vector<absl::Status> ends(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&session, &end = ends[static_cast<size_t>(t)], t] {
      for (int i = 0; i < kTransfers && end.ok(); ++i) {
        end = [&]() -> absl::Status {
          const std::vector<float> data(64, static_cast<float>(100 * t + i));
          ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.Floats({64}, data));
          ASSAY_ASSIGN_OR_RETURN(const std::vector<float> got, session.ToFloats(buffer));
          ASSAY_RETURN_IF_ERROR(Same(got, data));
          return session.Destroy<BufferArgs>(Function::kBufferDestroy, buffer);
        }();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& end : ends) ASSAY_RETURN_IF_ERROR(end);
  return absl::OkStatus();
}

struct Row {
  const char* name;
  const char* rule;
  absl::Status (*body)(Session&);
  int devices = 1;
  CaseLevel level = CaseLevel::kMust;
};

constexpr Row kRows[] = {
    {"buffer/scalar", "an array of rank 0 comes back",
     [](Session& s) { return RoundTrip(s, BufferType::kF32, {}); }},
    {"buffer/empty", "an array without elements comes back",
     [](Session& s) { return RoundTrip(s, BufferType::kF32, {3, 0, 2}); }},
    {"buffer/high-rank", "an array of eight dimensions comes back",
     [](Session& s) { return RoundTrip(s, BufferType::kF32, {1, 2, 1, 3, 1, 2, 2, 1}); }},
    {"buffer/large", "16 MiB come back",
     [](Session& s) { return RoundTrip(s, BufferType::kF32, {2048, 2048}); }},
    {"buffer/strides", "the host's strides are followed", TakesStrides},
    {"buffer/during-call", "the host's memory is free when the call has returned",
     [](Session& s) { return KeepsItsCopy(s, 0); }},
    {"buffer/until-transfer", "the host's memory is free when the event says so",
     [](Session& s) { return KeepsItsCopy(s, 1); }},
    {"buffer/zero-copy", "the host's memory may be used as it is",
     [](Session& s) { return KeepsItsCopy(s, 2); }},
    {"buffer/into-memory", "a memory may be named for a device", IntoMemory},
    {"buffer/device", "it lies on the device that was named", OnItsDevice},
    {"buffer/tells-size", "a null destination asks for the size", TellsSize},
    {"buffer/little-room", "too little room is an error", RefusesLittleRoom},
    {"buffer/to-columns", "the host's layout is followed", ToColumns},
    {"buffer/delete", "a buffer is deleted if and only if it was", Deletes},
    {"buffer/deleted-is-not-read", "a deleted buffer is not read", DeletedIsNotRead, 1,
     CaseLevel::kOpen},
    {"buffer/deleted-event", "the event of a deleted buffer has an error", DeletedEventFails},
    {"buffer/earlier-event", "an event from before the deletion has none", EarlierEventHolds},
    {"buffer/copy-to-device", "a copy on another device is the same", CopiesToAnother, 2},
    {"buffer/copy-to-own-device", "the device where it is is an error", RefusesItsOwnDevice},
    {"buffer/copy-to-own-memory", "the memory where it is is an error", RefusesItsOwnMemory},
    {"buffer/references", "references are counted up and down", CountsReferences},
    {"buffer/references-below-zero", "one that nobody took is an error", RefusesCountBelowZero},
    {"buffer/part", "a part comes back", CopiesPart},
    {"buffer/part-behind", "a part behind the end is an error", RefusesPartBehind, 1,
     CaseLevel::kOpen},
    {"buffer/type-invalid", "the invalid type is an error",
     [](Session& s) { return RefusesType(s, 0); }},
    {"buffer/type-unknown", "a type that it does not know is an error",
     [](Session& s) { return RefusesType(s, 4711); }, 1, CaseLevel::kOpen},
    {"threads/transfer", "four threads transfer at once", ThreadsTransfer},
};

}  // namespace

void AddBufferCases(std::vector<ProtocolCase>& cases) {
  for (const Row& row : kRows)
    cases.push_back({row.name, row.level, row.rule, row.body, row.devices});
  for (int i = 1; i <= static_cast<int>(BufferType::kF4E2M1FN); ++i) {
    const auto type = static_cast<BufferType>(i);
    const std::optional<ElementType> element = FromBufferType(type);
    if (!element) continue;
    cases.push_back({StrCat("buffer/round-trip/", assay::Name(*element)), CaseLevel::kMust,
                     "an array of this type comes back as it was",
                     [type](Session& session) { return RoundTrip(session, type, {2, 3}); }});
  }
}

}  // namespace assay::pjrt
