// Objects and calls.
#include "fuzz/backends/pjrt/protocol/session.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "fuzz/backends/stablehlo_text.h"
#include "spec/base/escape.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/proto/module_proto.h"
#include "spec/text/reader.h"

namespace assay::pjrt {
namespace {

constexpr uint64_t kPoison = 0xA5A5A5A5A5A5A5A5;

using Plain = Error* (*)(void*);
using Silent = void (*)(void*);

}  // namespace

const std::vector<float> kSix = {0, 1, 2, 3, 4, 5};
const std::vector<float> kDoubled = {0, 2, 4, 6, 8, 10};
const std::vector<float> kSquared = {0, 1, 4, 9, 16, 25};

const char kSumProgram[] =
    "HloModule sum\nENTRY e { p = f32[2,3] parameter(0) q = f32[2,3] parameter(1)\n"
    "ROOT r = f32[2,3] add(p, q) }\n";
const char kProductProgram[] =
    "HloModule product\nENTRY e { p = f32[2,3] parameter(0) q = f32[2,3] parameter(1)\n"
    "ROOT r = f32[2,3] multiply(p, q) }\n";
const char kPairProgram[] =
    "HloModule pair\nENTRY e { p = f32[2,3] parameter(0) q = f32[2,3] parameter(1)\n"
    "s = f32[2,3] add(p, q) m = f32[2,3] multiply(p, q)\n"
    "ROOT r = (f32[2,3], f32[2,3]) tuple(s, m) }\n";
const char kDonateProgram[] =
    "HloModule donate, input_output_alias={ {}: (0, {}, may-alias) }\n"
    "ENTRY e { p = f32[1024] parameter(0) c = f32[] constant(1)\n"
    "b = f32[1024] broadcast(c), dimensions={} ROOT r = f32[1024] add(p, b) }\n";
const char kLongProgram[] =
    "HloModule long\n"
    "body { s = (s32[], f32[64,64]) parameter(0) i = s32[] get-tuple-element(s), index=0\n"
    "x = f32[64,64] get-tuple-element(s), index=1 o = s32[] constant(1) n = s32[] add(i, o)\n"
    "d = f32[64,64] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "k = f32[] constant(0.015625) b = f32[64,64] broadcast(k), dimensions={}\n"
    "m = f32[64,64] multiply(d, b) ROOT t = (s32[], f32[64,64]) tuple(n, m) }\n"
    "condition { s = (s32[], f32[64,64]) parameter(0) i = s32[] get-tuple-element(s), index=0\n"
    "l = s32[] constant(20) ROOT c = pred[] compare(i, l), direction=LT }\n"
    "ENTRY e { p = f32[64,64] parameter(0) z = s32[] constant(0)\n"
    "t = (s32[], f32[64,64]) tuple(z, p)\n"
    "w = (s32[], f32[64,64]) while(t), condition=condition, body=body\n"
    "ROOT r = f32[64,64] get-tuple-element(w), index=1 }\n";

absl::Status Violation(std::string_view what) {
  return absl::FailedPreconditionError(StrCat(what));
}
absl::Status NotThere(std::string_view what) { return absl::UnimplementedError(StrCat(what)); }
bool IsNotThere(const absl::Status& status) { return absl::IsUnimplemented(status); }

absl::Status SameValues(const std::vector<float>& got, const std::vector<float>& wanted) {
  if (got == wanted) return absl::OkStatus();
  std::string text;
  for (size_t i = 0; i < got.size() && i < 8; ++i) StrAppend(&text, i == 0 ? "" : ", ", got[i]);
  return Violation(StrCat("comes back as ", got.size(), " numbers: ", text));
}

std::string Refusal::Describe() const { return StrCat(CodeName(code), ": ", message); }

RawArgs::RawArgs(size_t size, const void* subject) {
  for (uint64_t& word : words_) word = kPoison;
  std::memset(words_, 0, size);
  words_[0] = size;
  words_[1] = 0;
  if (size > 16) words_[2] = reinterpret_cast<uint64_t>(subject);
}

bool RawArgs::IsWrittenBehind(size_t size) const {
  const auto* bytes = reinterpret_cast<const uint8_t*>(words_);
  for (size_t i = size; i < sizeof(words_); ++i)
    if (bytes[i] != static_cast<uint8_t>(kPoison)) return true;
  return false;
}

Error* Session::CallAsIs(Function function, void* args) const {
  return reinterpret_cast<Plain>(plugin_.api()->functions[static_cast<size_t>(function)])(args);
}

ErrorMessageArgs Session::MessageOf(const Error* error) const {
  ErrorMessageArgs args{{sizeof(ErrorMessageArgs), nullptr}, error, nullptr, 0};
  const void* at = plugin_.api()->functions[static_cast<size_t>(Function::kErrorMessage)];
  if (at != nullptr) reinterpret_cast<Silent>(const_cast<void*>(at))(&args);
  return args;
}

void Session::DestroyError(Error* error) const {
  ErrorDestroyArgs args{{sizeof(ErrorDestroyArgs), nullptr}, error};
  const void* at = plugin_.api()->functions[static_cast<size_t>(Function::kErrorDestroy)];
  if (at != nullptr) reinterpret_cast<Silent>(const_cast<void*>(at))(&args);
}

std::optional<Refusal> Session::Call(Function function, void* args) {
  if (!plugin_.HasFunction(function))
    return Refusal{Code::kUnimplemented, "the table has no such function"};
  Error* error = CallAsIs(function, args);
  if (error == nullptr) return std::nullopt;
  Refusal refusal{Code::kInternal, ""};
  const ErrorMessageArgs message = MessageOf(error);
  constexpr size_t kMost = 1 << 16;
  if (message.message != nullptr)
    refusal.message = Printable({message.message, std::min(message.message_size, kMost)});
  ErrorGetCodeArgs code{{ASSAY_PJRT_SIZE(ErrorGetCodeArgs, code), nullptr}, error, Code::kOk};
  if (plugin_.HasFunction(Function::kErrorGetCode) &&
      CallAsIs(Function::kErrorGetCode, &code) == nullptr)
    refusal.code = code.code;
  DestroyError(error);
  const std::string_view name = FunctionRows()[static_cast<size_t>(function)].name;
  constexpr int kLastCode = 16;
  const std::lock_guard<std::mutex> lock(odd_mutex_);
  if (refusal.message.empty()) odd_.push_back(StrCat("an error of ", name, " has no words"));
  if (static_cast<int>(refusal.code) < 1 || static_cast<int>(refusal.code) > kLastCode) {
    odd_.push_back(StrCat("an error of ", name, " has the code ", static_cast<int>(refusal.code)));
  }
  return refusal;
}

absl::Status Session::MustWork(Function function, void* args, std::string_view what) {
  const std::string name =
      StrCat(FunctionRows()[static_cast<size_t>(function)].name, what.empty() ? "" : ", ", what);
  if (!plugin_.HasFunction(function)) return NotThere(StrCat(name, " is not in the table"));
  const std::optional<Refusal> refusal = Call(function, args);
  if (!refusal) return absl::OkStatus();
  if (refusal->code == Code::kUnimplemented)
    return NotThere(StrCat(name, ": ", refusal->Describe()));
  return Violation(StrCat(name, ": ", refusal->Describe()));
}

absl::Status Session::MustFail(Function function, void* args, std::string_view what) {
  const std::string_view name = FunctionRows()[static_cast<size_t>(function)].name;
  if (!plugin_.HasFunction(function)) return NotThere(StrCat(name, " is not in the table"));
  if (!Call(function, args)) return Violation(StrCat(name, " takes ", what));
  return absl::OkStatus();
}

absl::Status Session::Noted() const {
  return odd_.empty() ? absl::OkStatus() : Violation(odd_.front());
}

absl::Status Session::Needs(std::initializer_list<Function> functions) const {
  for (const Function function : functions) {
    if (!plugin_.HasFunction(function)) {
      return NotThere(
          StrCat(FunctionRows()[static_cast<size_t>(function)].name, " is not in the table"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Client*> Session::MakeClient() {
  std::vector<NamedValue> options;
  if (device_count_ > 1) options.push_back(IntegerOption(kDeviceCountOption, device_count_));
  ClientCreateArgs args = CreateClientArgs(options);
  ASSAY_RETURN_IF_ERROR(MustWork(Function::kClientCreate, &args));
  if (args.client == nullptr) return Violation("PJRT_Client_Create: no error and no client");
  return args.client;
}

absl::StatusOr<Client*> Session::GetClient() {
  if (client_ == nullptr) {
    ASSAY_ASSIGN_OR_RETURN(client_, MakeClient());
  }
  return client_;
}

absl::StatusOr<std::vector<Device*>> Session::Devices() {
  ASSAY_ASSIGN_OR_RETURN(Client * client, GetClient());
  ClientDevicesArgs args{{sizeof(ClientDevicesArgs), nullptr}, client, nullptr, 0};
  ASSAY_RETURN_IF_ERROR(MustWork(Function::kClientAddressableDevices, &args));
  if (args.devices == nullptr || args.device_count == 0)
    return NotThere("the plug-in has no device that this process can use");
  return std::vector<Device*>(args.devices, args.devices + args.device_count);
}

absl::StatusOr<Device*> Session::FirstDevice() {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Device*> devices, Devices());
  return devices.front();
}

absl::StatusOr<DeviceDescription*> Session::Description() {
  ASSAY_ASSIGN_OR_RETURN(Device * device, FirstDevice());
  DeviceDescribeArgs args{{sizeof(DeviceDescribeArgs), nullptr}, device, nullptr};
  ASSAY_RETURN_IF_ERROR(MustWork(Function::kDeviceGetDescription, &args));
  return args.description;
}

absl::StatusOr<Memory*> Session::FirstMemory() {
  ASSAY_ASSIGN_OR_RETURN(Client * client, GetClient());
  ClientMemoriesArgs args{{sizeof(ClientMemoriesArgs), nullptr}, client, nullptr, 0};
  ASSAY_RETURN_IF_ERROR(MustWork(Function::kClientAddressableMemories, &args));
  if (args.memories == nullptr || args.memory_count == 0)
    return NotThere("the plug-in has no memories");
  return args.memories[0];
}

absl::StatusOr<BufferFromHostArgs> Session::TransferArgs(BufferType type,
                                                         absl::Span<const int64_t> dims,
                                                         const void* data) {
  BufferFromHostArgs args{};
  args.head.struct_size = ASSAY_PJRT_SIZE(BufferFromHostArgs, buffer);
  ASSAY_ASSIGN_OR_RETURN(args.client, GetClient());
  ASSAY_ASSIGN_OR_RETURN(args.device, FirstDevice());
  args.data = data;
  args.type = type;
  args.dims = dims.data();
  args.dim_count = dims.size();
  return args;
}

absl::StatusOr<Buffer*> Session::ToDevice(BufferType type, const std::vector<int64_t>& dims,
                                          const void* data) {
  ASSAY_ASSIGN_OR_RETURN(BufferFromHostArgs args, TransferArgs(type, dims, data));
  ASSAY_RETURN_IF_ERROR(MustWork(Function::kClientBufferFromHostBuffer, &args));
  ASSAY_RETURN_IF_ERROR(Await(args.done_with_host_buffer));
  if (args.buffer == nullptr) return Violation("BufferFromHostBuffer: no error and no buffer");
  return args.buffer;
}

absl::StatusOr<Buffer*> Session::Floats(const std::vector<int64_t>& dims,
                                        const std::vector<float>& data) {
  return ToDevice(BufferType::kF32, dims, data.data());
}

absl::StatusOr<Buffer*> Session::SomeBuffer() {
  if (buffer_ == nullptr) {
    ASSAY_ASSIGN_OR_RETURN(buffer_, Floats({2, 3}, kSix));
  }
  return buffer_;
}

absl::StatusOr<LoadedExecutable*> Session::SomeLoaded() {
  if (loaded_ == nullptr) {
    ASSAY_ASSIGN_OR_RETURN(loaded_, Compile(kSumProgram));
  }
  return loaded_;
}

absl::StatusOr<PluginExecutable*> Session::ExecutableOf(LoadedExecutable* loaded) {
  GetExecutableArgs args{{sizeof(GetExecutableArgs), nullptr}, loaded, nullptr};
  ASSAY_RETURN_IF_ERROR(MustWork(Function::kLoadedExecutableGetExecutable, &args));
  if (args.executable == nullptr) return Violation("GetExecutable: no error and no executable");
  return args.executable;
}

absl::StatusOr<PluginExecutable*> Session::SomeExecutable() {
  if (executable_ == nullptr) {
    ASSAY_ASSIGN_OR_RETURN(LoadedExecutable * loaded, SomeLoaded());
    ASSAY_ASSIGN_OR_RETURN(executable_, ExecutableOf(loaded));
  }
  return executable_;
}

absl::StatusOr<Event*> Session::SomeEvent() {
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, SomeBuffer());
  ASSAY_ASSIGN_OR_RETURN(Event * event, ReadyEvent(buffer));
  // A question about an error may only be asked once it is ready.
  EventArgs await{{sizeof(EventArgs), nullptr}, event};
  ASSAY_RETURN_IF_ERROR(MustWork(Function::kEventAwait, &await));
  return event;
}

absl::StatusOr<const void*> Session::Topology() {
  ASSAY_ASSIGN_OR_RETURN(Client * client, GetClient());
  RawArgs args(32, client);
  ASSAY_RETURN_IF_ERROR(MustWork(Function::kClientTopologyDescription, args.get()));
  return args.Address(24);
}

absl::StatusOr<const void*> Session::Of(Subject subject) {
  switch (subject) {
    case Subject::kNone:
      return nullptr;
    case Subject::kEvent:
      return SomeEvent();
    case Subject::kClient:
      return GetClient();
    case Subject::kDevice:
      return FirstDevice();
    case Subject::kDescription:
      return Description();
    case Subject::kMemory:
      return FirstMemory();
    case Subject::kExecutable:
      return SomeExecutable();
    case Subject::kLoaded:
      return SomeLoaded();
    case Subject::kBuffer:
      return SomeBuffer();
    case Subject::kTopology:
      return Topology();
  }
  return nullptr;
}

std::optional<Refusal> Session::CompileBytes(const std::string& code, const std::string& format,
                                             const std::string& options, LoadedExecutable** made) {
  const absl::StatusOr<Client*> client = GetClient();
  if (!client.ok()) return Refusal{Code::kInternal, std::string(client.status().message())};
  CompileCall call(*client, code, format, options);
  std::optional<Refusal> refusal = Call(Function::kClientCompile, &call.args);
  *made = call.args.executable;
  return refusal;
}

absl::StatusOr<LoadedExecutable*> Session::Compile(const std::string& text,
                                                   const std::string& options) {
  ASSAY_RETURN_IF_ERROR(GetClient().status());
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, ReadModule(text));
  ASSAY_ASSIGN_OR_RETURN(const std::string code, WriteModuleProto(*module));
  LoadedExecutable* made = nullptr;
  std::optional<Refusal> refusal = CompileBytes(code, "hlo", options, &made);
  if (refusal) {
    ASSAY_ASSIGN_OR_RETURN(const std::string other, WriteStableHlo(*module));
    if (!CompileBytes(other, "mlir", options, &made)) refusal.reset();
  }
  if (refusal) return Violation(StrCat("PJRT_Client_Compile: ", refusal->Describe()));
  if (made == nullptr) return Violation("PJRT_Client_Compile: no error and no executable");
  return made;
}

absl::Status Session::Await(Event* event) {
  if (event == nullptr) return absl::OkStatus();
  EventArgs args{{sizeof(EventArgs), nullptr}, event};
  ASSAY_RETURN_IF_ERROR(MustWork(Function::kEventAwait, &args));
  return MustWork(Function::kEventDestroy, &args);
}

std::optional<Refusal> Session::ErrorOf(Event* event) {
  if (event == nullptr) return std::nullopt;
  EventArgs args{{sizeof(EventArgs), nullptr}, event};
  return Call(Function::kEventAwait, &args);
}

absl::StatusOr<Event*> Session::ReadyEvent(Buffer* buffer) {
  RawArgs args(32, buffer);
  ASSAY_RETURN_IF_ERROR(MustWork(Function::kBufferReadyEvent, args.get()));
  auto* event = reinterpret_cast<Event*>(args.Word(24));
  if (event == nullptr) return Violation("ReadyEvent: no error and no event");
  return event;
}

absl::StatusOr<bool> Session::IsDeleted(Buffer* buffer) {
  RawArgs args(25, buffer);
  ASSAY_RETURN_IF_ERROR(MustWork(Function::kBufferIsDeleted, args.get()));
  return args.Byte(24) != 0;
}

absl::Status Session::Delete(Buffer* buffer) {
  BufferArgs args{{sizeof(BufferArgs), nullptr}, buffer};
  return MustWork(Function::kBufferDelete, &args);
}

absl::StatusOr<Buffer*> Session::DeletedBuffer() {
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, Floats({2, 3}, kSix));
  ASSAY_RETURN_IF_ERROR(Delete(buffer));
  return buffer;
}

absl::Status Session::Holds(Buffer* buffer, const std::vector<float>& wanted) {
  if (buffer == nullptr) return Violation("an output is null");
  ASSAY_ASSIGN_OR_RETURN(const std::vector<float> got, ToFloats(buffer));
  return SameValues(got, wanted);
}

absl::StatusOr<std::string> Session::Bytes(Buffer* buffer) {
  BufferToHostArgs args{};
  args.head.struct_size = ASSAY_PJRT_SIZE(BufferToHostArgs, event);
  args.source = buffer;
  ASSAY_RETURN_IF_ERROR(MustWork(Function::kBufferToHostBuffer, &args, "asked for the size"));
  if (args.event != nullptr) ASSAY_RETURN_IF_ERROR(Await(args.event));
  constexpr size_t kMost = size_t{1} << 30;
  if (args.destination_size > kMost)
    return Violation(StrCat("the buffer is said to have ", args.destination_size, " bytes"));
  std::string bytes(args.destination_size, '\0');
  args.event = nullptr;
  args.destination = bytes.data();
  ASSAY_RETURN_IF_ERROR(MustWork(Function::kBufferToHostBuffer, &args));
  ASSAY_RETURN_IF_ERROR(Await(args.event));
  return bytes;
}

absl::StatusOr<std::vector<float>> Session::ToFloats(Buffer* buffer) {
  ASSAY_ASSIGN_OR_RETURN(const std::string bytes, Bytes(buffer));
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

Session::Run Session::Execute(LoadedExecutable* loaded, std::vector<Buffer*> arguments,
                              size_t outputs, ExecuteOptions* options) {
  ExecuteCall call(loaded, {std::move(arguments)}, outputs);
  if (options != nullptr) call.args.options = options;
  Run run;
  run.refusal = Call(Function::kLoadedExecutableExecute, &call.args);
  run.outputs = call.outputs[0];
  run.done = call.events[0];
  return run;
}

}  // namespace assay::pjrt
