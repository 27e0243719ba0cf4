// A PJRT plug-in for tests: runs modules on the reference interpreter, keeps a strict watch on how
// it is called, and misbehaves as ASSAY_STAND_IN says. Loaded from a shared library, as any other
// is.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/backends/pjrt/plugin.h"
#include "reference/interpreter/interpreter.h"
#include "spec/backend/backend.h"
#include "spec/base/strings.h"
#include "spec/proto/module_proto.h"

namespace assay::pjrt {

struct Error {
  Code code;
  std::string message;
};
struct Event {
  Error* error = nullptr;  // that awaiting it gives
};
struct Device {
  int number;
};
struct DeviceDescription {
  std::string text;
};
struct Memory {};
struct Client {
  std::unique_ptr<Backend> backend;
  std::vector<Device> devices;
  std::vector<Device*> addressable;
};
struct Buffer {
  Literal value;
  bool is_deleted = false;
};
struct LoadedExecutable {
  std::unique_ptr<Executable> program;
  std::unique_ptr<Module> module;
};
struct PluginExecutable {
  LoadedExecutable* loaded;
};

namespace {

// The trouble that the test asks for: "compile", "circle", ...
bool Is(std::string_view trouble) {
  const char* asked = std::getenv("ASSAY_STAND_IN");
  return asked != nullptr && trouble == asked;
}

// Objects that exist: whoever names another, or one twice, has made a mistake that ends the process
// with words that the test looks for.
std::set<const void*>& Living() {
  static auto& living = *new std::set<const void*>;
  return living;
}
std::mutex& LivingMutex() {
  static auto& mutex = *new std::mutex;
  return mutex;
}
template <typename Object>
Object* Born(Object* object) {
  const std::lock_guard<std::mutex> lock(LivingMutex());
  Living().insert(object);
  return object;
}
template <typename Object>
void Destroy(Object* object) {
  if (object == nullptr && !Is("null-dies")) return;
  const std::lock_guard<std::mutex> lock(LivingMutex());
  if (Living().erase(object) == 0) {
    std::fputs("stand-in: an object is destroyed that does not exist\n", stderr);
    std::abort();
  }
  delete object;
}

Error* MakeTrouble(Code code, std::string message) {
  if (Is("no-words")) message.clear();
  return Born(new Error{Is("strange-code") ? static_cast<Code>(99) : code, std::move(message)});
}
Error* Invalid(std::string message) {
  return MakeTrouble(Code::kInvalidArgument, std::move(message));
}
Error* Internal(const absl::Status& status) {
  const Code code =
      ClassOf(status) == ErrorClass::kUnsupported ? Code::kUnimplemented : Code::kInternal;
  return MakeTrouble(code, std::string(status.message()));
}

// Stands in the table before every function that has a structure of a size: a caller that knows
// fewer fields than the oldest API had is wrong.
template <Error* (*code)(void*), size_t size>
Error* Sized(void* args) {
  const Head& head = *static_cast<Head*>(args);
  if (head.struct_size < size && !Is("takes-short")) return Invalid("a structure is too small");
  if (head.struct_size > (size + 7) / 8 * 8 && Is("exact-size")) return Invalid("too large");
  if (head.extension_start != nullptr && Is("follows-extensions")) std::abort();
  return code(args);
}

Error* DestroyError(void* args) {
  Destroy(static_cast<ErrorDestroyArgs*>(args)->error);
  return nullptr;
}
Error* ErrorMessage(void* args) {
  auto* a = static_cast<ErrorMessageArgs*>(args);
  a->message = a->error->message.data();
  a->message_size = a->error->message.size();
  return nullptr;
}
Error* ErrorCode(void* args) {
  auto* a = static_cast<ErrorGetCodeArgs*>(args);
  a->code = a->error->code;
  return nullptr;
}
Error* Initialize(void*) {
  return Is("initialize") ? MakeTrouble(Code::kInternal, "no licence") : nullptr;
}
Error* Attributes(void* args) {
  static NamedValue version{{sizeof(NamedValue), nullptr}, "stand_in", 8,
                            ValueKind::kInteger,           {},         1};
  version.integer = 7;
  auto* a = static_cast<PluginAttributesArgs*>(args);
  a->attributes = &version;
  a->attribute_count = 1;
  return Is("attributes") ? MakeTrouble(Code::kUnimplemented, "none") : nullptr;
}
Error* DestroyEvent(void* args) {
  Destroy(static_cast<EventArgs*>(args)->event);
  return nullptr;
}
// Each error is the caller's own.
Error* Await(void* args) {
  const Error* error = static_cast<EventArgs*>(args)->event->error;
  if (error == nullptr || Is("await-forgets")) return nullptr;
  return Born(new Error(*error));
}
Error* EventError(void* args) {
  const Error* error = static_cast<EventArgs*>(args)->event->error;
  return error == nullptr ? nullptr : Born(new Error(*error));
}
Error* IsReady(void* args) {
  static_cast<EventIsReadyArgs*>(args)->is_ready = !Is("never-ready");
  return nullptr;
}
Error* OnReady(void* args) {
  auto* a = static_cast<EventOnReadyArgs*>(args);
  const Error* error = a->event->error;
  for (int i = 0; i < (Is("calls-back-twice") ? 2 : 1); ++i)
    a->callback(error == nullptr ? nullptr : Born(new Error(*error)), a->argument);
  return nullptr;
}

Event* MakeEvent(std::string_view trouble) {
  auto* event = Born(new Event);
  if (Is(trouble)) event->error = MakeTrouble(Code::kInternal, StrCat("event of ", trouble));
  return event;
}

Error* CreateClient(void* args) {
  auto* a = static_cast<ClientCreateArgs*>(args);
  if (Is("client")) return MakeTrouble(Code::kInternal, "no chip");
  if (Is("null-client")) return nullptr;
  BackendRegistry registry;
  RegisterReference(registry);
  auto backend = registry.Create("reference");
  if (!backend.ok()) return Internal(backend.status());
  a->client = Born(new Client{*std::move(backend), {}, {}});
  const int64_t devices = a->option_count == 1 ? a->options[0].integer : 1;
  for (int i = 0; i < (Is("few-devices") ? 1 : devices); ++i)
    a->client->devices.push_back(Device{i});
  for (Device& device : a->client->devices) a->client->addressable.push_back(&device);
  return nullptr;
}
Error* DestroyClient(void* args) {
  Destroy(static_cast<ClientArgs*>(args)->client);
  return nullptr;
}
Error* PlatformName(void* args) {
  auto* a = static_cast<ClientTextArgs*>(args);
  static int calls = 0;
  a->text = Is("changes-words") && ++calls % 2 == 0 ? "in-stand" : "stand-in";
  a->text_size = Is("names-nothing") ? 0 : Is("counts-the-end") ? 9 : 8;
  if (Is("writes-behind")) reinterpret_cast<uint64_t*>(a)[5] = 0;
  return nullptr;
}
Error* PlatformVersion(void* args) {
  auto* a = static_cast<ClientTextArgs*>(args);
  a->text = Is("strange-words") ? "\x1b[2J\xff" : "reference";
  a->text_size = std::strlen(a->text);
  return nullptr;
}
Error* Devices(void* args) {
  auto* a = static_cast<ClientDevicesArgs*>(args);
  a->devices = a->client->addressable.data();
  a->device_count = Is("no-devices") ? 0 : a->client->addressable.size();
  return nullptr;
}

Error* Compile(void* args) {
  auto* a = static_cast<ClientCompileArgs*>(args);
  if (Is("compile")) return MakeTrouble(Code::kInternal, "the compiler is out");
  if (Is("compile-refused")) return MakeTrouble(Code::kUnimplemented, "no such op");
  if (Is("compile-invalid")) return MakeTrouble(Code::kInvalidArgument, "not HLO");
  if (Is("compile-memory")) return MakeTrouble(Code::kResourceExhausted, "full");
  if (Is("compile-dies")) std::abort();
  if (Is("null-executable")) return nullptr;
  if (std::string_view(a->program->format, a->program->format_size) != "hlo")
    return MakeTrouble(Code::kUnimplemented, "another format");
  auto module = ReadModuleProto({a->program->code, a->program->code_size});
  if (!module.ok() && Is("compiles-anything")) module = std::make_unique<Module>("any");
  if (!module.ok()) return Invalid(std::string(module.status().message()));
  auto program = a->client->backend->Compile(**module, {});
  if (!program.ok()) return Internal(program.status());
  a->executable = Born(new LoadedExecutable{*std::move(program), *std::move(module)});
  return nullptr;
}
Error* DestroyLoaded(void* args) {
  Destroy(static_cast<LoadedExecutableArgs*>(args)->executable);
  return nullptr;
}
Error* GetExecutable(void* args) {
  auto* a = static_cast<GetExecutableArgs*>(args);
  a->executable = Born(new PluginExecutable{a->loaded});
  return nullptr;
}
Error* DestroyExecutable(void* args) {
  Destroy(static_cast<ExecutableArgs*>(args)->executable);
  return nullptr;
}
size_t OutputCount(const LoadedExecutable& loaded) {
  const Shape& shape = loaded.module->entry()->root()->shape();
  return shape.IsTuple() ? shape.elements().size() : 1;
}
Error* CountOutputs(void* args) {
  auto* a = static_cast<ExecutableCountArgs*>(args);
  a->count = Is("many-outputs") ? size_t{1} << 40 : OutputCount(*a->executable->loaded);
  return nullptr;
}

Error* FromHost(void* args) {
  auto* a = static_cast<BufferFromHostArgs*>(args);
  if (Is("transfer")) return MakeTrouble(Code::kResourceExhausted, "no room for an argument");
  const auto type = FromBufferType(a->type);
  if (!type) return Invalid("a type");
  if (a->byte_strides != nullptr || a->device == nullptr)
    return MakeTrouble(Code::kUnimplemented, "strides and memories");
  Literal value(Shape::Array(*type, DimVector(a->dims, a->dims + a->dim_count)));
  std::memcpy(value.bytes().data(), a->data, value.bytes().size());
  a->buffer = Born(new Buffer{std::move(value)});
  a->done_with_host_buffer = Is("null-event") ? nullptr : MakeEvent("transfer-event");
  return nullptr;
}
Error* DestroyBuffer(void* args) {
  Destroy(static_cast<BufferArgs*>(args)->buffer);
  return nullptr;
}
Error* TypeOfBuffer(void* args) {
  auto* a = static_cast<BufferTypeArgs*>(args);
  a->type = Is("strange-type") ? static_cast<BufferType>(99)
                               : *ToBufferType(a->buffer->value.element_type());
  return nullptr;
}
Error* DimensionsOfBuffer(void* args) {
  static const int64_t negative = -3;
  auto* a = static_cast<BufferDimensionsArgs*>(args);
  const auto& dims = a->buffer->value.shape().dimensions();
  a->dims = Is("negative-size") ? &negative : dims.data();
  a->dim_count = Is("negative-size") ? 1 : dims.size();
  return nullptr;
}
Error* IsDeleted(void* args) {
  auto* a = static_cast<BufferIsDeletedArgs*>(args);
  a->is_deleted = a->buffer->is_deleted || Is("donated");
  return nullptr;
}
Error* DeleteBuffer(void* args) {
  static_cast<BufferArgs*>(args)->buffer->is_deleted = !Is("keeps-deleted");
  return nullptr;
}
Error* ReadyEvent(void* args) {
  auto* a = static_cast<BufferReadyEventArgs*>(args);
  a->event = MakeEvent("ready-event");
  if (a->buffer->is_deleted && a->event->error == nullptr)
    a->event->error = Invalid("the buffer is deleted");
  return nullptr;
}
Error* ToHost(void* args) {
  auto* a = static_cast<BufferToHostArgs*>(args);
  const auto bytes = a->source->value.bytes();
  if (a->source->is_deleted) return Invalid("the buffer is deleted");
  const auto& dims = a->source->value.shape().dimensions();
  const MemoryLayout* layout = a->host_layout;
  const bool is_turned =
      layout != nullptr && dims.size() > 1 && layout->tiled.minor_to_major[0] == 0;
  if (is_turned && !Is("keeps-order")) return MakeTrouble(Code::kUnimplemented, "a layout");
  if (a->destination == nullptr) {
    a->destination_size = bytes.size();
    return nullptr;
  }
  if (a->destination_size < bytes.size() && !Is("little-room")) return Invalid("too small");
  std::memcpy(a->destination, bytes.data(), bytes.size());
  if (Is("drops-high-byte")) static_cast<uint8_t*>(a->destination)[bytes.size() - 1] = 0;
  a->event = MakeEvent("result-event");
  return nullptr;
}

Error* Execute(void* args) {
  auto* a = static_cast<ExecuteArgs*>(args);
  if (Is("run")) return MakeTrouble(Code::kInternal, "the chip is hot");
  if (Is("run-dies")) std::raise(SIGSEGV);
  if (a->device_count != 1) return Invalid("more than one device");
  const Computation& entry = *a->executable->module->entry();
  size_t wanted = static_cast<size_t>(entry.parameter_count());
  if (a->argument_count != wanted && !(Is("ignores-count") && a->argument_count > wanted))
    return Invalid("a wrong number of arguments");
  std::vector<const Literal*> arguments;
  for (size_t i = 0; i < wanted; ++i) {
    const Buffer& argument = *a->argument_lists[0][i];
    if (argument.is_deleted) return Invalid("a deleted argument");
    if (!Compatible(argument.value.shape(), entry.parameter(static_cast<int64_t>(i))->shape()))
      return Invalid("an argument of another shape");
    arguments.push_back(&argument.value);
  }
  auto result = a->executable->program->Run({arguments});
  if (!result.ok()) return Internal(result.status());
  const size_t count = OutputCount(*a->executable);
  for (size_t i = 0; i < count; ++i) {
    Literal& value = result->outputs[0];
    if (Is("null-output")) continue;
    a->output_lists[0][i] =
        Born(new Buffer{value.shape().IsTuple() ? std::move(value.mutable_elements()[i]) : value});
  }
  if (Is("overwrites") || Is("donated")) a->argument_lists[0][0]->value.bytes()[0] ^= 1;
  if (a->complete_events != nullptr)
    a->complete_events[0] = Is("null-event") ? nullptr : MakeEvent("run-event");
  return nullptr;
}

Error* OptimizedText(void* args) {
  auto* a = static_cast<OptimizedProgramArgs*>(args);
  static const std::string kFormat = "hlo";
  auto bytes = WriteModuleProto(*a->executable->loaded->module);
  if (!bytes.ok()) return Internal(bytes.status());
  a->program->format = Is("optimized-format") ? "mlir" : kFormat.data();
  a->program->format_size = Is("optimized-format") ? 4 : kFormat.size();
  if (a->program->code != nullptr) std::memcpy(a->program->code, bytes->data(), bytes->size());
  a->program->code_size = Is("optimized-size") ? size_t{1} << 50 : bytes->size();
  return nullptr;
}

using Plain = Error* (*)(void*);

struct NamedFunction {
  std::string_view name;
  Function function;
  Plain code;
};
constexpr NamedFunction kFunctions[] = {
    {"destroy-error", Function::kErrorDestroy,
     Sized<DestroyError, ASSAY_PJRT_SIZE(ErrorDestroyArgs, error)>},
    {"error-message", Function::kErrorMessage, ErrorMessage},
    {"error-code", Function::kErrorGetCode,
     Sized<ErrorCode, ASSAY_PJRT_SIZE(ErrorGetCodeArgs, code)>},
    {"initialize", Function::kPluginInitialize, Sized<Initialize, sizeof(PluginInitializeArgs)>},
    {"attributes", Function::kPluginAttributes, Sized<Attributes, sizeof(PluginAttributesArgs)>},
    {"destroy-event", Function::kEventDestroy, Sized<DestroyEvent, sizeof(EventArgs)>},
    {"await", Function::kEventAwait, Sized<Await, sizeof(EventArgs)>},
    {"client-create", Function::kClientCreate,
     Sized<CreateClient, ASSAY_PJRT_SIZE(ClientCreateArgs, client)>},
    {"destroy-client", Function::kClientDestroy, Sized<DestroyClient, sizeof(ClientArgs)>},
    {"platform-name", Function::kClientPlatformName, Sized<PlatformName, sizeof(ClientTextArgs)>},
    {"platform-version", Function::kClientPlatformVersion,
     Sized<PlatformVersion, sizeof(ClientTextArgs)>},
    {"devices", Function::kClientAddressableDevices, Sized<Devices, sizeof(ClientDevicesArgs)>},
    {"compile", Function::kClientCompile, Sized<Compile, sizeof(ClientCompileArgs)>},
    {"from-host", Function::kClientBufferFromHostBuffer,
     Sized<FromHost, sizeof(BufferFromHostArgs)>},
    {"destroy-loaded", Function::kLoadedExecutableDestroy,
     Sized<DestroyLoaded, sizeof(LoadedExecutableArgs)>},
    {"get-executable", Function::kLoadedExecutableGetExecutable,
     Sized<GetExecutable, sizeof(GetExecutableArgs)>},
    {"destroy-executable", Function::kExecutableDestroy,
     Sized<DestroyExecutable, sizeof(ExecutableArgs)>},
    {"count-outputs", Function::kExecutableNumOutputs,
     Sized<CountOutputs, sizeof(ExecutableCountArgs)>},
    {"optimized", Function::kExecutableOptimizedProgram,
     Sized<OptimizedText, sizeof(OptimizedProgramArgs)>},
    {"execute", Function::kLoadedExecutableExecute,
     Sized<Execute, ASSAY_PJRT_SIZE(ExecuteArgs, execute_device)>},
    {"destroy-buffer", Function::kBufferDestroy, Sized<DestroyBuffer, sizeof(BufferArgs)>},
    {"type", Function::kBufferElementType,
     Sized<TypeOfBuffer, ASSAY_PJRT_SIZE(BufferTypeArgs, type)>},
    {"dimensions", Function::kBufferDimensions,
     Sized<DimensionsOfBuffer, sizeof(BufferDimensionsArgs)>},
    {"is-deleted", Function::kBufferIsDeleted,
     Sized<IsDeleted, ASSAY_PJRT_SIZE(BufferIsDeletedArgs, is_deleted)>},
    {"to-host", Function::kBufferToHostBuffer, Sized<ToHost, sizeof(BufferToHostArgs)>},
    {"event-error", Function::kEventError, Sized<EventError, sizeof(EventArgs)>},
    {"is-ready", Function::kEventIsReady,
     Sized<IsReady, ASSAY_PJRT_SIZE(EventIsReadyArgs, is_ready)>},
    {"on-ready", Function::kEventOnReady, Sized<OnReady, sizeof(EventOnReadyArgs)>},
    {"delete", Function::kBufferDelete, Sized<DeleteBuffer, sizeof(BufferArgs)>},
    {"ready-event", Function::kBufferReadyEvent, Sized<ReadyEvent, sizeof(BufferReadyEventArgs)>},
};

// The trouble of one function, "NAME:missing", "NAME:dies" or "NAME:CODE", if that is what is
// asked.
struct FunctionTrouble {
  std::string_view name, what;
};
FunctionTrouble TroubleOfFunction() {
  const char* asked = std::getenv("ASSAY_STAND_IN");
  const std::string_view text = asked == nullptr ? "" : asked;
  const size_t colon = text.find(':');
  if (colon == text.npos) return {};
  return {text.substr(0, colon), text.substr(colon + 1)};
}
// Stands in the table in place of the function in trouble.
Error* Fail(void*) {
  const std::string what(TroubleOfFunction().what);
  if (what == "dies") std::abort();
  return MakeTrouble(static_cast<Code>(std::atoi(what.c_str())), "planted");
}

const Api* MakeApi() {
  static Extension extension{sizeof(Extension), 4, nullptr};
  static Api api{};
  if (Is("circle")) extension.next = &extension;
  api.head = {Is("short-table") ? 8 : sizeof(Api), &extension};
  api.version = {{sizeof(Version), nullptr}, Is("major") ? 1 : 0, Is("old") ? 39 : 55};
  const FunctionTrouble trouble = TroubleOfFunction();
  for (const NamedFunction& each : kFunctions) {
    const bool fails = each.name == trouble.name;
    const Plain code = !fails ? each.code : trouble.what == "missing" ? nullptr : Fail;
    api.functions[static_cast<size_t>(each.function)] = reinterpret_cast<void*>(code);
  }
  const std::pair<std::string_view, Function> without[] = {
      {"no-client-create", Function::kClientCreate},
      {"no-error-message", Function::kErrorMessage},
      {"no-error-code", Function::kErrorGetCode},
      {"no-initialize", Function::kPluginInitialize},
      {"no-attributes", Function::kPluginAttributes},
      {"no-is-deleted", Function::kBufferIsDeleted},
      {"no-optimized", Function::kExecutableOptimizedProgram},
      {"no-execute", Function::kLoadedExecutableExecute},
  };
  for (const auto& [name, function] : without)
    if (Is(name)) api.functions[static_cast<size_t>(function)] = nullptr;
  return Is("null-api") ? nullptr : &api;
}

}  // namespace
}  // namespace assay::pjrt

extern "C" const assay::pjrt::Api* GetPjrtApi() { return assay::pjrt::MakeApi(); }
