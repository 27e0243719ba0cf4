// Arrays to a device and back.
#include <algorithm>
#include <thread>

#include "fuzz/backends/pjrt/protocol/suite.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/types/element_type.h"

namespace assay::pjrt {
namespace {

absl::Status RoundTrip(Session& session, BufferType type, const std::vector<int64_t>& dims) {
  const std::optional<ElementType> element = FromBufferType(type);
  if (!element) return NotThere("no array has this type");
  int64_t count = 1;
  for (const int64_t size : dims) count *= size;
  const int64_t width = std::max<int64_t>(BitWidth(*element), 8) / 8;
  std::string data(static_cast<size_t>(count * width), '\0');
  // Every byte another, by codes that every type has: no NaN, and no sign in less than a byte.
  const int64_t bits = BitWidth(*element);
  const int64_t codes = bits < 2 ? 2 : bits < 8 ? int64_t{1} << (bits - 1) : 61;
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<char>((7 * static_cast<int64_t>(i) + 1) % codes);
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
  const std::vector<int64_t> strides = {4, 8}, dims = {2, 3};
  ASSAY_ASSIGN_OR_RETURN(BufferFromHostArgs args,
                         session.TransferArgs(BufferType::kF32, dims, columns.data()));
  args.byte_strides = strides.data();
  args.byte_stride_count = 2;
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kClientBufferFromHostBuffer, &args));
  ASSAY_RETURN_IF_ERROR(session.Await(args.done_with_host_buffer));
  // It comes back as it lies on the device, in either order.
  if (session.Holds(args.buffer, columns).ok()) return absl::OkStatus();
  return session.Holds(args.buffer, kSix);
}

// The host's memory may be overwritten when the document says so.
absl::Status KeepsItsCopy(Session& session, int semantics) {
  std::vector<float> data(4096);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
  const std::vector<float> given = data;
  const std::vector<int64_t> dims = {static_cast<int64_t>(data.size())};
  ASSAY_ASSIGN_OR_RETURN(BufferFromHostArgs args,
                         session.TransferArgs(BufferType::kF32, dims, data.data()));
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
  ASSAY_ASSIGN_OR_RETURN(BufferFromHostArgs args,
                         session.TransferArgs(BufferType::kF32, dims, kSix.data()));
  args.device = nullptr;
  args.memory = reinterpret_cast<Memory*>(memory.Word(24));
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kClientBufferFromHostBuffer, &args));
  ASSAY_RETURN_IF_ERROR(session.Await(args.done_with_host_buffer));
  RawArgs where(32, args.buffer);
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kBufferMemory, where.get()));
  if (where.Word(24) != memory.Word(24)) return Violation("it lies in another memory");
  return session.Holds(args.buffer, kSix);
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
  return SameValues(got, {0, 3, 1, 4, 2, 5});
}

absl::Status Deletes(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * kept, session.SomeBuffer());
  ASSAY_ASSIGN_OR_RETURN(const bool before, session.IsDeleted(kept));
  if (before) return Violation("a new buffer says that it is deleted");
  ASSAY_ASSIGN_OR_RETURN(Buffer * gone, session.DeletedBuffer());
  ASSAY_ASSIGN_OR_RETURN(const bool after, session.IsDeleted(gone));
  if (!after) return Violation("a deleted buffer says that it is not");
  return session.Destroy<BufferArgs>(Function::kBufferDestroy, gone);
}

absl::Status DeletedIsNotRead(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * gone, session.DeletedBuffer());
  std::vector<float> room(6);
  BufferToHostArgs args{};
  args.head.struct_size = ASSAY_PJRT_SIZE(BufferToHostArgs, event);
  args.source = gone;
  args.destination = room.data();
  args.destination_size = 24;
  if (session.Call(Function::kBufferToHostBuffer, &args)) return absl::OkStatus();
  if (session.ErrorOf(args.event)) return absl::OkStatus();
  return Violation("a deleted buffer is read");
}

absl::Status DeletedEventFails(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * gone, session.DeletedBuffer());
  ASSAY_ASSIGN_OR_RETURN(Event * failed, session.ReadyEvent(gone));
  EventArgs event{{sizeof(EventArgs), nullptr}, failed};
  return session.MustFail(Function::kEventAwait, &event, "the event of a deleted buffer");
}

absl::Status EarlierEventHolds(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.Floats({2, 3}, kSix));
  ASSAY_ASSIGN_OR_RETURN(Event * earlier, session.ReadyEvent(buffer));
  ASSAY_RETURN_IF_ERROR(session.Delete(buffer));
  EventArgs event{{sizeof(EventArgs), nullptr}, earlier};
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
  return session.Holds(copy, kSix);
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
  return SameValues(got, {2, 3});
}

absl::Status RefusesPartBehind(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.SomeBuffer());
  std::vector<float> got(16);
  RawToHost args{{sizeof(RawToHost), nullptr}, buffer, got.data(), 16, 64, nullptr};
  ASSAY_RETURN_IF_ERROR(session.Needs({Function::kBufferCopyRawToHost}));
  if (session.Call(Function::kBufferCopyRawToHost, &args)) return absl::OkStatus();
  if (session.ErrorOf(args.event)) return absl::OkStatus();
  return Violation("it copies bytes behind the buffer's end");
}

absl::Status RefusesType(Session& session, int type) {
  const std::vector<int64_t> dims = {2};
  ASSAY_ASSIGN_OR_RETURN(BufferFromHostArgs args,
                         session.TransferArgs(BufferType::kF32, dims, kSix.data()));
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
          ASSAY_RETURN_IF_ERROR(session.Holds(buffer, data));
          return session.Destroy<BufferArgs>(Function::kBufferDestroy, buffer);
        }();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& end : ends) ASSAY_RETURN_IF_ERROR(end);
  return absl::OkStatus();
}

constexpr CaseRow kRows[] = {
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
  AddRows(kRows, cases);
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
