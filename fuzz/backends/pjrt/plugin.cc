// Loads plug-ins and calls them.
#include "fuzz/backends/pjrt/plugin.h"

#include <dlfcn.h>

#include <array>

#include "absl/strings/str_cat.h"
#include "fuzz/backends/pjrt/calls.h"
#include "spec/base/escape.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay::pjrt {
namespace {

// Before it, functions stood at other places of the table.
constexpr int kOldestMinor = 40;

constexpr std::array<std::string_view, 16> kExtensions = {"gpu custom call",
                                                          "profiler",
                                                          "custom partitioner",
                                                          "stream",
                                                          "layouts",
                                                          "ffi",
                                                          "memory descriptions",
                                                          "triton",
                                                          "raw buffer",
                                                          "phase compile",
                                                          "example",
                                                          "unknown",
                                                          "cross-host transfers",
                                                          "executable metadata",
                                                          "callback",
                                                          "host allocator"};

// Whatever a plug-in says is data from outside.
std::string TextOf(const char* text, size_t size) {
  constexpr size_t kMost = 1 << 16;
  if (text == nullptr) return "";
  return Printable(std::string(text, std::min(size, kMost)));
}

std::string ValueText(const NamedValue& value) {
  switch (value.kind) {
    case ValueKind::kString:
      return TextOf(value.text, value.value_size);
    case ValueKind::kInteger:
      return StrCat(value.integer);
    case ValueKind::kIntegers: {
      std::string text;
      for (size_t i = 0; value.integers != nullptr && i < value.value_size && i < 16; ++i)
        StrAppend(&text, text.empty() ? "" : ".", value.integers[i]);
      return text;
    }
    case ValueKind::kFloat:
      return StrCat(value.number);
    case ValueKind::kBool:
      return value.flag ? "true" : "false";
  }
  return "?";
}

ErrorClass ClassOfCode(Code code, ErrorClass otherwise) {
  switch (code) {
    case Code::kUnimplemented:
    case Code::kNotFound:
      return ErrorClass::kUnsupported;
    case Code::kDeadlineExceeded:
      return otherwise == ErrorClass::kSickMachine ? otherwise : ErrorClass::kTimeout;
    case Code::kResourceExhausted:
      return ErrorClass::kOutOfMemory;
    case Code::kInvalidArgument:
      return otherwise == ErrorClass::kSickMachine ? otherwise : ErrorClass::kRejected;
    default:
      return otherwise;
  }
}

absl::Status Sick(std::string_view what) { return MakeError(ErrorClass::kSickMachine, what); }

}  // namespace

std::string_view CodeName(Code code) {
  constexpr std::array<std::string_view, 17> kNames = {"OK",
                                                       "CANCELLED",
                                                       "UNKNOWN",
                                                       "INVALID_ARGUMENT",
                                                       "DEADLINE_EXCEEDED",
                                                       "NOT_FOUND",
                                                       "ALREADY_EXISTS",
                                                       "PERMISSION_DENIED",
                                                       "RESOURCE_EXHAUSTED",
                                                       "FAILED_PRECONDITION",
                                                       "ABORTED",
                                                       "OUT_OF_RANGE",
                                                       "UNIMPLEMENTED",
                                                       "INTERNAL",
                                                       "UNAVAILABLE",
                                                       "DATA_LOSS",
                                                       "UNAUTHENTICATED"};
  const auto number = static_cast<size_t>(code);
  return number < kNames.size() ? kNames[number] : "an unknown code";
}

std::string ExtensionName(int type) {
  if (type >= 0 && static_cast<size_t>(type) < kExtensions.size())
    return std::string(kExtensions[static_cast<size_t>(type)]);
  return StrCat("extension ", type);
}

absl::StatusOr<std::unique_ptr<Plugin>> Plugin::Load(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    return Sick(StrCat("cannot load the plug-in: ", why != nullptr ? why : path));
  }
  // A library that started threads cannot be unloaded: it stays.
  using GetApi = const Api* (*)();
  const auto get = reinterpret_cast<GetApi>(dlsym(library, "GetPjrtApi"));
  if (get == nullptr) return Sick(StrCat(path, " is no PJRT plug-in: it has no GetPjrtApi"));
  const Api* api = get();
  if (api == nullptr) return Sick(StrCat(path, ": GetPjrtApi returns nothing"));
  if (api->head.struct_size < offsetof(Api, functions))
    return Sick(StrCat(path, ": its table of functions has ", api->head.struct_size, " bytes"));
  const Version& version = api->version;
  if (version.major_version != 0 || version.minor_version < kOldestMinor) {
    return Sick(StrCat(path, ": PJRT API ", version.major_version, ".", version.minor_version,
                       "; 0.", kOldestMinor, " and newer are known"));
  }
  std::unique_ptr<Plugin> plugin(new Plugin(api));
  ASSAY_RETURN_IF_ERROR(plugin->ReadFacts());
  return plugin;
}

bool Plugin::HasFunction(Function function) const {
  const auto number = static_cast<size_t>(function);
  const size_t end = offsetof(Api, functions) + (number + 1) * sizeof(void*);
  return api_->head.struct_size >= end && api_->functions[number] != nullptr;
}

absl::Status Plugin::Call(Function function, void* args, ErrorClass otherwise) const {
  if (!HasFunction(function)) {
    return MakeError(
        ErrorClass::kUnsupported,
        StrCat("the plug-in has no function ", static_cast<int>(function), " of the PJRT API"));
  }
  using Plain = Error* (*)(void*);
  using Silent = void (*)(void*);
  const auto at = [this](Function f) { return api_->functions[static_cast<size_t>(f)]; };
  Error* error = reinterpret_cast<Plain>(at(function))(args);
  if (error == nullptr) return absl::OkStatus();
  std::string text = "an error without a message";
  if (HasFunction(Function::kErrorMessage)) {
    ErrorMessageArgs message{{sizeof(ErrorMessageArgs), nullptr}, error, nullptr, 0};
    reinterpret_cast<Silent>(at(Function::kErrorMessage))(&message);
    text = TextOf(message.message, message.message_size);
  }
  Code code = Code::kInternal;
  if (HasFunction(Function::kErrorGetCode)) {
    ErrorGetCodeArgs get{{sizeof(ErrorGetCodeArgs), nullptr}, error, Code::kInternal};
    if (reinterpret_cast<Plain>(at(Function::kErrorGetCode))(&get) == nullptr) code = get.code;
  }
  if (HasFunction(Function::kErrorDestroy)) {
    ErrorDestroyArgs destroy{{sizeof(ErrorDestroyArgs), nullptr}, error};
    reinterpret_cast<Silent>(at(Function::kErrorDestroy))(&destroy);
  }
  return MakeError(ClassOfCode(code, otherwise), StrCat(CodeName(code), ": ", text));
}

absl::Status Plugin::Await(Event* event, ErrorClass otherwise) const {
  if (event == nullptr) return absl::OkStatus();
  EventArgs args{{sizeof(EventArgs), nullptr}, event};
  const absl::Status status = Call(Function::kEventAwait, &args, otherwise);
  Destroy<EventArgs>(Function::kEventDestroy, event);
  return status;
}

absl::Status Plugin::ReadFacts() {
  facts_.major_version = api_->version.major_version;
  facts_.minor_version = api_->version.minor_version;
  constexpr int kMostExtensions = 256;  // the list may be a circle
  for (const Extension* at = api_->head.extension_start;
       at != nullptr && facts_.extensions.size() < kMostExtensions; at = at->next)
    facts_.extensions.push_back(at->type);
  for (int i = 0; i < kFunctionCount; ++i)
    facts_.missing_functions += HasFunction(static_cast<Function>(i)) ? 0 : 1;
  if (HasFunction(Function::kPluginInitialize)) {
    PluginInitializeArgs initialize{{sizeof(PluginInitializeArgs), nullptr}};
    ASSAY_RETURN_IF_ERROR(Call(Function::kPluginInitialize, &initialize, ErrorClass::kSickMachine));
  }
  PluginAttributesArgs args{{sizeof(PluginAttributesArgs), nullptr}, nullptr, 0};
  if (!HasFunction(Function::kPluginAttributes) ||
      !Call(Function::kPluginAttributes, &args, ErrorClass::kSickMachine).ok())
    return absl::OkStatus();
  for (size_t i = 0; args.attributes != nullptr && i < args.attribute_count; ++i) {
    const NamedValue& value = args.attributes[i];
    facts_.attributes.emplace_back(TextOf(value.name, value.name_size), ValueText(value));
  }
  return absl::OkStatus();
}

std::optional<BufferType> ToBufferType(ElementType type) {
  for (int i = 1; i <= static_cast<int>(BufferType::kF4E2M1FN); ++i) {
    const auto candidate = static_cast<BufferType>(i);
    if (FromBufferType(candidate) == type) return candidate;
  }
  return std::nullopt;
}

std::optional<ElementType> FromBufferType(BufferType type) {
  using T = ElementType;
  constexpr T kTypes[] = {
      T::kInvalid,    T::kPred,   T::kS8,       T::kS16,           T::kS32,
      T::kS64,        T::kU8,     T::kU16,      T::kU32,           T::kU64,
      T::kF16,        T::kF32,    T::kF64,      T::kBF16,          T::kC64,
      T::kC128,       T::kF8E5M2, T::kF8E4M3FN, T::kF8E4M3B11FNUZ, T::kF8E5M2FNUZ,
      T::kF8E4M3FNUZ, T::kS4,     T::kU4,       T::kToken,         T::kS2,
      T::kU2,         T::kF8E4M3, T::kF8E3M4,   T::kF8E8M0FNU,     T::kF4E2M1FN};
  const auto number = static_cast<size_t>(type);
  if (number == 0 || number >= std::size(kTypes) || !IsArrayType(kTypes[number]))
    return std::nullopt;
  return kTypes[number];
}

absl::StatusOr<std::unique_ptr<PluginClient>> PluginClient::Create(const Plugin& plugin,
                                                                   int devices) {
  std::vector<NamedValue> options;
  if (devices > 1) options.push_back(IntegerOption(kDeviceCountOption, devices));
  ClientCreateArgs args = CreateClientArgs(options);
  ASSAY_RETURN_IF_ERROR(plugin.Call(Function::kClientCreate, &args, ErrorClass::kSickMachine));
  if (args.client == nullptr) return Sick("the plug-in made no client, and no error");
  std::unique_ptr<PluginClient> client(new PluginClient(plugin, args.client));
  ASSAY_RETURN_IF_ERROR(client->ReadFacts());
  if (static_cast<int>(client->devices_.size()) < devices) {
    return Sick(
        StrCat(devices, " devices were asked for; the plug-in has ", client->devices_.size()));
  }
  return client;
}

PluginClient::~PluginClient() { plugin_.Destroy<ClientArgs>(Function::kClientDestroy, client_); }

absl::Status PluginClient::ReadFacts() {
  for (const auto& [function, text] : {std::pair{Function::kClientPlatformName, &platform_},
                                       std::pair{Function::kClientPlatformVersion, &version_}}) {
    ClientTextArgs args{{sizeof(ClientTextArgs), nullptr}, client_, nullptr, 0};
    ASSAY_RETURN_IF_ERROR(plugin_.Call(function, &args, ErrorClass::kSickMachine));
    *text = TextOf(args.text, args.text_size);
  }
  ClientDevicesArgs args{{sizeof(ClientDevicesArgs), nullptr}, client_, nullptr, 0};
  ASSAY_RETURN_IF_ERROR(
      plugin_.Call(Function::kClientAddressableDevices, &args, ErrorClass::kSickMachine));
  if (args.devices == nullptr || args.device_count == 0)
    return Sick("the plug-in has no device that this process can use");
  devices_.assign(args.devices, args.devices + args.device_count);
  return absl::OkStatus();
}

std::vector<std::string> PluginClient::DeviceTexts() const {
  std::vector<std::string> texts;
  for (Device* device : devices_) {
    DeviceDescribeArgs describe{{sizeof(DeviceDescribeArgs), nullptr}, device, nullptr};
    DescriptionTextArgs args{{sizeof(DescriptionTextArgs), nullptr}, nullptr, nullptr, 0};
    std::string text = StrCat(platform_, ":", texts.size());
    if (plugin_.Call(Function::kDeviceGetDescription, &describe, ErrorClass::kSickMachine).ok()) {
      args.description = describe.description;
      if (plugin_.Call(Function::kDeviceDescriptionToString, &args, ErrorClass::kSickMachine).ok())
        text = TextOf(args.text, args.text_size);
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

std::vector<std::string> PluginClient::MemoryTexts() const {
  ClientMemoriesArgs memories{{sizeof(ClientMemoriesArgs), nullptr}, client_, nullptr, 0};
  std::vector<std::string> texts;
  if (!plugin_.Call(Function::kClientAddressableMemories, &memories, ErrorClass::kSickMachine).ok())
    return texts;
  for (size_t i = 0; memories.memories != nullptr && i < memories.memory_count; ++i) {
    MemoryTextArgs args{{sizeof(MemoryTextArgs), nullptr}, memories.memories[i], nullptr, 0};
    if (plugin_.Call(Function::kMemoryToString, &args, ErrorClass::kSickMachine).ok())
      texts.push_back(TextOf(args.text, args.text_size));
  }
  return texts;
}

absl::StatusOr<Buffer*> PluginClient::ToDevice(const Shape& shape, const uint8_t* bytes,
                                               Device* device) const {
  const std::optional<BufferType> type = ToBufferType(shape.element_type());
  if (!type) {
    return MakeError(ErrorClass::kUnsupported,
                     StrCat("PJRT has no element type ", Name(shape.element_type())));
  }
  BufferFromHostArgs args{};
  args.head.struct_size = ASSAY_PJRT_SIZE(BufferFromHostArgs, buffer);
  args.client = client_;
  args.data = bytes;
  args.type = *type;
  args.dims = shape.dimensions().data();
  args.dim_count = shape.dimensions().size();
  args.semantics = HostBuffer::kCopied;
  args.device = device;
  ASSAY_RETURN_IF_ERROR(
      plugin_.Call(Function::kClientBufferFromHostBuffer, &args, ErrorClass::kRunCrash));
  const absl::Status arrived = plugin_.Await(args.done_with_host_buffer, ErrorClass::kRunCrash);
  if (!arrived.ok()) {
    plugin_.Destroy<BufferArgs>(Function::kBufferDestroy, args.buffer);
    return arrived;
  }
  return args.buffer;
}

absl::StatusOr<Literal> PluginClient::ToHost(Buffer* buffer) const {
  BufferTypeArgs type{{sizeof(BufferTypeArgs), nullptr}, buffer, BufferType::kInvalid};
  ASSAY_RETURN_IF_ERROR(plugin_.Call(Function::kBufferElementType, &type, ErrorClass::kRunCrash));
  BufferDimensionsArgs dims{{sizeof(BufferDimensionsArgs), nullptr}, buffer, nullptr, 0};
  ASSAY_RETURN_IF_ERROR(plugin_.Call(Function::kBufferDimensions, &dims, ErrorClass::kRunCrash));
  const std::optional<ElementType> element = FromBufferType(type.type);
  constexpr size_t kMostDimensions = 64;
  if (!element || dims.dim_count > kMostDimensions || (dims.dims == nullptr && dims.dim_count > 0))
    return MakeError(ErrorClass::kRunCrash, "the plug-in's buffer has no type or no dimensions");
  DimVector sizes(dims.dims, dims.dims + dims.dim_count);
  for (const int64_t size : sizes) {
    if (size < 0) return MakeError(ErrorClass::kRunCrash, "a dimension of the result is negative");
  }
  ASSAY_ASSIGN_OR_RETURN(Literal literal, Literal::Create(Shape::Array(*element, sizes)));
  if (literal.bytes().empty()) return literal;

  std::vector<int64_t> minor_to_major;
  for (size_t i = sizes.size(); i-- > 0;) minor_to_major.push_back(static_cast<int64_t>(i));
  MemoryLayout layout{};
  layout.head.struct_size = ASSAY_PJRT_SIZE(MemoryLayout, type);
  layout.tiled.head.struct_size = ASSAY_PJRT_SIZE(TiledLayout, tile_count);
  layout.tiled.minor_to_major = minor_to_major.data();
  layout.tiled.minor_to_major_size = minor_to_major.size();
  BufferToHostArgs args{};
  args.head.struct_size = ASSAY_PJRT_SIZE(BufferToHostArgs, event);
  args.source = buffer;
  args.host_layout = &layout;
  args.destination = literal.bytes().data();
  args.destination_size = literal.bytes().size();
  ASSAY_RETURN_IF_ERROR(plugin_.Call(Function::kBufferToHostBuffer, &args, ErrorClass::kRunCrash));
  ASSAY_RETURN_IF_ERROR(plugin_.Await(args.event, ErrorClass::kRunCrash));
  return literal;
}

}  // namespace assay::pjrt
