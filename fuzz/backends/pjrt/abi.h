// The binary interface of PJRT plug-ins, in declarations of our own: plug-ins are loaded at run
// time and no header of theirs is needed to build. Document: XLA's pjrt_c_api.h, API versions 0.40
// to 0.81; abi_test.cc compares every offset with that header where it is given one.
//
// Each argument structure begins with its size, by which either side knows the fields that the
// other has: a plug-in that is older than these declarations reads the first of them, a newer one
// takes its later fields for absent. New functions come at the end of the table.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::pjrt {

// Objects of the plug-in, known by address alone.
struct Error;
struct Event;
struct Client;
struct Device;
struct DeviceDescription;
struct Memory;
struct PluginExecutable;
struct LoadedExecutable;
struct Buffer;

struct Extension {
  size_t struct_size;
  int type;
  Extension* next;
};

// The head of every structure.
struct Head {
  size_t struct_size;
  Extension* extension_start;
};

struct Version {
  Head head;
  int major_version;
  int minor_version;
};

// Places in the table of functions. A function takes the address of its structure and returns an
// error, or null where all went well; the first two return nothing.
enum class Function : uint8_t {
  kErrorDestroy,
  kErrorMessage,
  kErrorGetCode,
  kPluginInitialize,
  kPluginAttributes,
  kEventDestroy,
  kEventIsReady,
  kEventError,
  kEventAwait,
  kEventOnReady,
  kClientCreate,
  kClientDestroy,
  kClientPlatformName,
  kClientProcessIndex,
  kClientPlatformVersion,
  kClientDevices,
  kClientAddressableDevices,
  kClientLookupDevice,
  kClientLookupAddressableDevice,
  kClientAddressableMemories,
  kClientCompile,
  kClientDefaultDeviceAssignment,
  kClientBufferFromHostBuffer,
  kDeviceDescriptionId,
  kDeviceDescriptionProcessIndex,
  kDeviceDescriptionAttributes,
  kDeviceDescriptionKind,
  kDeviceDescriptionDebugString,
  kDeviceDescriptionToString,
  kDeviceGetDescription,
  kDeviceIsAddressable,
  kDeviceLocalHardwareId,
  kDeviceAddressableMemories,
  kDeviceDefaultMemory,
  kDeviceMemoryStats,
  kMemoryId,
  kMemoryKind,
  kMemoryDebugString,
  kMemoryToString,
  kMemoryAddressableByDevices,
  kExecutableDestroy,
  kExecutableName,
  kExecutableNumReplicas,
  kExecutableNumPartitions,
  kExecutableNumOutputs,
  kExecutableSizeOfGeneratedCode,
  kExecutableGetCostAnalysis,
  kExecutableOutputMemoryKinds,
  kExecutableOptimizedProgram,
  kExecutableSerialize,
  kLoadedExecutableDestroy,
  kLoadedExecutableGetExecutable,
  kLoadedExecutableAddressableDevices,
  kLoadedExecutableDelete,
  kLoadedExecutableIsDeleted,
  kLoadedExecutableExecute,
  kExecutableDeserializeAndLoad,
  kLoadedExecutableFingerprint,
  kBufferDestroy,
  kBufferElementType,
  kBufferDimensions,
  kBufferUnpaddedDimensions,
  kBufferDynamicDimensionIndices,
  kBufferGetMemoryLayout,
  kBufferOnDeviceSize,
  kBufferDevice,
  kBufferMemory,
  kBufferDelete,
  kBufferIsDeleted,
  kBufferCopyToDevice,
  kBufferToHostBuffer,
  kBufferIsOnCpu,
  kBufferReadyEvent,
  kBufferUnsafePointer,
  kBufferIncreaseExternalReferenceCount,
  kBufferDecreaseExternalReferenceCount,
  kBufferOpaqueDeviceMemoryDataPointer,
  kStreamDestroy,
  kStreamAddChunk,
  kStreamTotalBytes,
  kStreamGranuleSize,
  kStreamCurrentBytes,
  kTopologyCreate,
  kTopologyDestroy,
  kTopologyPlatformName,
  kTopologyPlatformVersion,
  kTopologyGetDeviceDescriptions,
  kTopologySerialize,
  kTopologyAttributes,
  kCompile,
  kExecutableOutputElementTypes,
  kExecutableOutputDimensions,
  kBufferCopyToMemory,
  kClientCreateViewOfDeviceBuffer,
  kExecutableFingerprint,
  kClientTopologyDescription,
  kExecutableGetCompiledMemoryStats,
  kMemoryKindId,
  kExecuteContextCreate,
  kExecuteContextDestroy,
  kBufferCopyRawToHost,
  kTransferDestroy,
  kTransferData,
  kClientCreateBuffersForAsyncHostToDevice,
  kTransferRetrieveBuffer,
  kTransferDevice,
  kTransferBufferCount,
  kTransferBufferSize,
  kTransferSetBufferError,
  kTransferAddMetadata,
  kClientDmaMap,
  kClientDmaUnmap,
  kClientCreateUninitializedBuffer,
  kClientUpdateGlobalProcessInfo,
  kTopologyDeserialize,
  kClientCreateAliasBuffer,
  kClientFulfillAliasBuffer,
  kLoadedExecutableGetDeviceAssignment,
};
inline constexpr int kFunctionCount =
    static_cast<int>(Function::kLoadedExecutableGetDeviceAssignment) + 1;

struct Api {
  Head head;
  Version version;
  void* functions[kFunctionCount];
};

// Also of a structure: its size with the last field that is declared here, without what pads it.
#define ASSAY_PJRT_SIZE(type, last) (offsetof(type, last) + sizeof(type::last))

enum class Code : int {
  kOk = 0,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kResourceExhausted = 8,
  kUnimplemented = 12,
  kInternal = 13,
};

enum class BufferType : int {
  kInvalid,
  kPred,
  kS8,
  kS16,
  kS32,
  kS64,
  kU8,
  kU16,
  kU32,
  kU64,
  kF16,
  kF32,
  kF64,
  kBF16,
  kC64,
  kC128,
  kF8E5M2,
  kF8E4M3FN,
  kF8E4M3B11FNUZ,
  kF8E5M2FNUZ,
  kF8E4M3FNUZ,
  kS4,
  kU4,
  kToken,
  kS2,
  kU2,
  kF8E4M3,
  kF8E3M4,
  kF8E8M0FNU,
  kF4E2M1FN,
};

enum class ValueKind : int { kString, kInteger, kIntegers, kFloat, kBool };

struct NamedValue {
  Head head;
  const char* name;
  size_t name_size;
  ValueKind kind;
  union {
    const char* text;
    int64_t integer;
    const int64_t* integers;
    float number;
    bool flag;
  };
  size_t value_size;  // of the text or of the list; else 1
};

struct ErrorDestroyArgs {
  Head head;
  Error* error;
};
struct ErrorMessageArgs {
  Head head;
  const Error* error;
  const char* message;
  size_t message_size;
};
struct ErrorGetCodeArgs {
  Head head;
  const Error* error;
  Code code;
};
struct PluginInitializeArgs {
  Head head;
};
struct PluginAttributesArgs {
  Head head;
  const NamedValue* attributes;
  size_t attribute_count;
};
struct EventArgs {  // destroy, await
  Head head;
  Event* event;
};

struct EventIsReadyArgs {
  Head head;
  Event* event;
  bool is_ready;
};
// The callback owns the error, which may be null; the argument is the caller's.
struct EventOnReadyArgs {
  Head head;
  Event* event;
  void (*callback)(Error*, void*);
  void* argument;
};

struct ClientCreateArgs {
  Head head;
  const NamedValue* options;
  size_t option_count;
  // Processes of one job find each other by these; null where there is one process.
  void* get_callback;
  void* get_argument;
  void* put_callback;
  void* put_argument;
  Client* client;
  void* try_get_callback;
  void* try_get_argument;
};
struct ClientArgs {  // destroy
  Head head;
  Client* client;
};
struct ClientTextArgs {  // platform name, platform version
  Head head;
  Client* client;
  const char* text;
  size_t text_size;
};
struct ClientDevicesArgs {
  Head head;
  Client* client;
  Device* const* devices;
  size_t device_count;
};
struct ClientMemoriesArgs {
  Head head;
  Client* client;
  Memory* const* memories;
  size_t memory_count;
};
struct Program {
  Head head;
  char* code;
  size_t code_size;
  const char* format;
  size_t format_size;
};
struct ClientCompileArgs {
  Head head;
  Client* client;
  const Program* program;
  const char* options;  // CompileOptionsProto
  size_t options_size;
  LoadedExecutable* executable;
};

struct DeviceDescribeArgs {
  Head head;
  Device* device;
  DeviceDescription* description;
};
struct DescriptionTextArgs {  // kind, as text
  Head head;
  DeviceDescription* description;
  const char* text;
  size_t text_size;
};
struct MemoryTextArgs {
  Head head;
  Memory* memory;
  const char* text;
  size_t text_size;
};

struct TiledLayout {
  Head head;
  const int64_t* minor_to_major;
  size_t minor_to_major_size;
  const int64_t* tile_dims;
  const size_t* tile_dim_sizes;
  size_t tile_count;
};
struct MemoryLayout {
  Head head;
  TiledLayout tiled;  // a layout by strides, which is smaller, may lie here instead
  int type;           // 0: tiled
};

enum class HostBuffer : int { kCopied = 0 };  // it may be overwritten when the call has returned

struct BufferFromHostArgs {
  Head head;
  Client* client;
  const void* data;
  BufferType type;
  const int64_t* dims;
  size_t dim_count;
  const int64_t* byte_strides;  // null: row-major
  size_t byte_stride_count;
  HostBuffer semantics;
  Device* device;
  Memory* memory;
  MemoryLayout* device_layout;
  Event* done_with_host_buffer;
  Buffer* buffer;
};
struct BufferArgs {  // destroy
  Head head;
  Buffer* buffer;
};
struct BufferTypeArgs {
  Head head;
  Buffer* buffer;
  BufferType type;
};
struct BufferDimensionsArgs {
  Head head;
  Buffer* buffer;
  const int64_t* dims;
  size_t dim_count;
};
struct BufferIsDeletedArgs {
  Head head;
  Buffer* buffer;
  bool is_deleted;
};
struct BufferReadyEventArgs {
  Head head;
  Buffer* buffer;
  Event* event;
};
struct BufferToHostArgs {
  Head head;
  Buffer* source;
  MemoryLayout* host_layout;  // null: as on the device
  void* destination;          // null: only the size is asked for
  size_t destination_size;
  Event* event;
};

struct LoadedExecutableArgs {  // destroy
  Head head;
  LoadedExecutable* executable;
};
struct GetExecutableArgs {
  Head head;
  LoadedExecutable* loaded;
  PluginExecutable* executable;
};
struct ExecutableArgs {  // destroy
  Head head;
  PluginExecutable* executable;
};
struct ExecutableCountArgs {  // outputs
  Head head;
  PluginExecutable* executable;
  size_t count;
};
struct OptimizedProgramArgs {
  Head head;
  PluginExecutable* executable;
  Program* program;  // its code null: only the size is asked for
};

struct ExecuteOptions {
  Head head;
  void* send_callbacks;
  void* receive_callbacks;
  size_t send_count;
  size_t receive_count;
  int launch_id;
  const int64_t* not_donated;  // numbers of arguments
  size_t not_donated_count;
  void* context;
  const char* call_location;
  size_t task_count;
  int* task_ids;
  int64_t* incarnation_ids;
};
struct ExecuteArgs {
  Head head;
  LoadedExecutable* executable;
  ExecuteOptions* options;
  Buffer* const* const* argument_lists;  // by device
  size_t device_count;
  size_t argument_count;
  Buffer** const* output_lists;  // by device; filled
  Event** complete_events;       // null, or one per device; filled
  Device* execute_device;        // null: those that it was compiled for
};

}  // namespace assay::pjrt
