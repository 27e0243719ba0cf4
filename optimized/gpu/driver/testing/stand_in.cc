// A stand-in for libcuda in tests: a library with the same calls, which runs kernels on the
// simulator, notes how it is misused, and fails where it is told to. It has one device, "Stand-in",
// of compute capability 9.0.
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"
#include "optimized/gpu/driver/cuda_calls.h"
#include "optimized/gpu/driver/module_image.h"
#include "optimized/gpu/driver/testing/stand_in_state.h"
#include "optimized/gpu/simulator/kernel_code.h"
#include "optimized/gpu/simulator/simulator.h"

namespace assay::gpu {
namespace {

struct StandInModule {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  std::map<std::string, std::unique_ptr<DecodedKernel>> kernels;
  std::map<const DecodedKernel*, uint32_t> shared_limits;
};

// The whole state of the pretended driver.
struct StandIn {
  bool is_initialised = false;
  int retained = 0;
  bool is_current = false;
  DeviceMemory memory{uint64_t{1} << 30};
  std::map<StandInModule*, std::unique_ptr<StandInModule>> modules;
  std::set<uint64_t> allocations, streams, events;
  uint64_t next_handle = 0x1000;
  int calls = 0, fail_at = -1;
  CudaResult fail_code = kCudaSuccess, lost = kCudaSuccess;
  std::string report;

  void Note(const std::string& text) { absl::StrAppend(&report, text, "\n"); }
};

StandIn*& State() {
  static StandIn* state = new StandIn();
  return state;
}

CudaHandle HandleOf(uint64_t number) { return reinterpret_cast<CudaHandle>(number); }
uint64_t NumberOf(CudaHandle handle) { return reinterpret_cast<uint64_t>(handle); }

enum class Needs : uint8_t { kNothing, kInit, kContext };

// Each call begins here: whether it is told to fail, and whether it may be made now.
CudaResult Enter(const char* name, Needs needs) {
  StandIn& state = *State();
  if (state.calls++ == state.fail_at) {
    if (state.fail_code == kCudaLaunchFailed || state.fail_code == kCudaIllegalAddress) {
      state.lost = state.fail_code;
    }
    return state.fail_code;
  }
  if (state.lost != kCudaSuccess) return state.lost;
  if (needs != Needs::kNothing && !state.is_initialised) {
    state.Note(absl::StrCat(name, " before cuInit"));
    return kCudaNotInitialised;
  }
  if (needs == Needs::kContext && !state.is_current) {
    state.Note(absl::StrCat(name, " without a context"));
    return kCudaInvalidContext;
  }
  return kCudaSuccess;
}

CudaResult Misuse(const char* name, const std::string& what, CudaResult result) {
  State()->Note(absl::StrCat(name, ": ", what));
  return result;
}

CudaResult CheckStream(const char* name, CudaHandle stream) {
  if (State()->streams.contains(NumberOf(stream))) return kCudaSuccess;
  return Misuse(name, "a stream that is not there", kCudaInvalidHandle);
}

CudaResult OfStatus(const char* name, const absl::Status& status) {
  if (status.ok()) return kCudaSuccess;
  return Misuse(name, std::string(status.message()), kCudaInvalidValue);
}

// Things that are left when the last context goes are leaks.
void NoteLeaks() {
  StandIn& state = *State();
  for (const uint64_t address : state.allocations) {
    state.Note(absl::StrCat("leaked: memory at ", absl::Hex(address)));
  }
  for (size_t k = 0; k < state.modules.size(); ++k) state.Note("leaked: a module");
  for (size_t k = 0; k < state.streams.size(); ++k) state.Note("leaked: a stream");
  for (size_t k = 0; k < state.events.size(); ++k) state.Note("leaked: an event");
}

}  // namespace

int EnterStandIn(const char* name) { return Enter(name, Needs::kContext); }
DeviceMemory& StandInMemory() { return State()->memory; }
void NoteMisuse(const std::string& text) { State()->Note(text); }
bool HasStandInStream(CudaHandle stream) { return State()->streams.contains(NumberOf(stream)); }

}  // namespace assay::gpu

using namespace assay::gpu;  // the calls below have the names of C

#define ASSAY_ENTER(name, needs)                                                        \
  if (const CudaResult entered = Enter(#name, Needs::needs); entered != kCudaSuccess) { \
    return entered;                                                                     \
  }
#define ASSAY_CHECK_STREAM(name, stream)                                                \
  if (const CudaResult checked = CheckStream(#name, stream); checked != kCudaSuccess) { \
    return checked;                                                                     \
  }

extern "C" {

// ---- for tests ----

// The call after `calls` more ones gives `code`; negative: none does.
void assayStandInFail(int calls, CudaResult code) {
  StandIn& state = *State();
  state.fail_at = calls < 0 ? -1 : state.calls + calls;
  state.fail_code = code;
}
int assayStandInCalls() { return State()->calls; }
// Everything that was done wrong, a line each.
const char* assayStandInReport() { return State()->report.c_str(); }
// A new process, as it were.
void assayStandInReset() {
  delete State();
  State() = new StandIn();
}

// ---- the driver's calls ----

CudaResult cuInit(unsigned flags) {
  ASSAY_ENTER(cuInit, kNothing)
  if (flags != 0) return Misuse("cuInit", "flags must be 0", kCudaInvalidValue);
  State()->is_initialised = true;
  return kCudaSuccess;
}

CudaResult cuDriverGetVersion(int* version) {
  ASSAY_ENTER(cuDriverGetVersion, kNothing)
  *version = 13000;
  return kCudaSuccess;
}

CudaResult cuGetErrorName(CudaResult error, const char** text) {
  switch (error) {
    case kCudaOutOfMemory:
      *text = "CUDA_ERROR_OUT_OF_MEMORY";
      return kCudaSuccess;
    case kCudaLaunchFailed:
      *text = "CUDA_ERROR_LAUNCH_FAILED";
      return kCudaSuccess;
    case kCudaInvalidValue:
      *text = "CUDA_ERROR_INVALID_VALUE";
      return kCudaSuccess;
    default:
      *text = nullptr;
      return kCudaInvalidValue;
  }
}

CudaResult cuGetErrorString(CudaResult error, const char** text) {
  (void)error;
  *text = "an error of the stand-in";
  return kCudaSuccess;
}

CudaResult cuDeviceGetCount(int* count) {
  ASSAY_ENTER(cuDeviceGetCount, kInit)
  *count = 1;
  return kCudaSuccess;
}

CudaResult cuDeviceGet(CudaDevice* device, int ordinal) {
  ASSAY_ENTER(cuDeviceGet, kInit)
  if (ordinal != 0) return Misuse("cuDeviceGet", "there is one device", 101);
  *device = 0;
  return kCudaSuccess;
}

CudaResult cuDeviceGetName(char* name, int bytes, CudaDevice) {
  ASSAY_ENTER(cuDeviceGetName, kInit)
  std::strncpy(name, "Stand-in", bytes);
  return kCudaSuccess;
}

CudaResult cuDeviceGetAttribute(int* value, int attribute, CudaDevice) {
  ASSAY_ENTER(cuDeviceGetAttribute, kInit)
  *value = attribute == kCudaComputeMajor       ? 9
           : attribute == kCudaComputeMinor     ? 0
           : attribute == kCudaSharedBytesOptIn ? 227 * 1024
                                                : 132;
  return kCudaSuccess;
}

CudaResult cuDeviceTotalMem_v2(size_t* bytes, CudaDevice) {
  ASSAY_ENTER(cuDeviceTotalMem_v2, kInit)
  *bytes = size_t{1} << 30;
  return kCudaSuccess;
}

CudaResult cuDevicePrimaryCtxRetain(CudaHandle* context, CudaDevice) {
  ASSAY_ENTER(cuDevicePrimaryCtxRetain, kInit)
  ++State()->retained;
  *context = HandleOf(0x10);
  return kCudaSuccess;
}

CudaResult cuDevicePrimaryCtxRelease_v2(CudaDevice) {
  ASSAY_ENTER(cuDevicePrimaryCtxRelease_v2, kInit)
  if (State()->retained == 0) {
    return Misuse("cuDevicePrimaryCtxRelease", "more often than retained", kCudaInvalidContext);
  }
  if (--State()->retained == 0) NoteLeaks();
  return kCudaSuccess;
}

CudaResult cuCtxSetCurrent(CudaHandle context) {
  ASSAY_ENTER(cuCtxSetCurrent, kInit)
  if (context != nullptr && (NumberOf(context) != 0x10 || State()->retained == 0)) {
    return Misuse("cuCtxSetCurrent", "no such context", kCudaInvalidContext);
  }
  State()->is_current = context != nullptr;
  return kCudaSuccess;
}

CudaResult cuModuleLoadDataEx(CudaHandle* module, const void* image, unsigned, int*, void**) {
  ASSAY_ENTER(cuModuleLoadDataEx, kContext)
  const std::string bytes = IrOfImage(static_cast<const char*>(image));
  if (bytes.empty()) return Misuse("cuModuleLoadDataEx", "no IR in the image", kCudaInvalidImage);
  auto made = std::make_unique<StandInModule>();
  auto parsed = llvm::parseBitcodeFile(
      llvm::MemoryBufferRef(llvm::StringRef(bytes.data(), bytes.size()), "image"), made->context);
  if (!parsed) {
    llvm::consumeError(parsed.takeError());
    return Misuse("cuModuleLoadDataEx", "the IR cannot be read", kCudaInvalidImage);
  }
  made->module = std::move(*parsed);
  *module = made.get();
  State()->modules.emplace(made.get(), std::move(made));
  return kCudaSuccess;
}

CudaResult cuModuleUnload(CudaHandle module) {
  ASSAY_ENTER(cuModuleUnload, kContext)
  if (State()->modules.erase(static_cast<StandInModule*>(module)) == 1) return kCudaSuccess;
  return Misuse("cuModuleUnload", "no such module", kCudaInvalidHandle);
}

CudaResult cuModuleGetFunction(CudaHandle* function, CudaHandle module, const char* name) {
  ASSAY_ENTER(cuModuleGetFunction, kContext)
  const auto found = State()->modules.find(static_cast<StandInModule*>(module));
  if (found == State()->modules.end()) {
    return Misuse("cuModuleGetFunction", "no such module", kCudaInvalidHandle);
  }
  const llvm::Function* kernel = found->second->module->getFunction(name);
  if (kernel == nullptr || kernel->isDeclaration()) return kCudaNotFound;
  std::unique_ptr<DecodedKernel>& decoded = found->second->kernels[name];
  if (decoded == nullptr) {
    auto made = Decode(*kernel);
    if (!made.ok()) return OfStatus("cuModuleGetFunction", made.status());
    decoded = *std::move(made);
  }
  *function = decoded.get();
  return kCudaSuccess;
}

// The module that has the function, or null.
static StandInModule* ModuleOf(CudaHandle function) {
  for (const auto& [module, owned] : State()->modules) {
    for (const auto& [name, kernel] : owned->kernels) {
      if (kernel.get() == function) return module;
    }
  }
  return nullptr;
}

CudaResult cuFuncSetAttribute(CudaHandle function, int attribute, int value) {
  ASSAY_ENTER(cuFuncSetAttribute, kContext)
  StandInModule* module = ModuleOf(function);
  if (module == nullptr || attribute != kCudaDynamicSharedBytes) {
    return Misuse("cuFuncSetAttribute", "no such function or attribute", kCudaInvalidHandle);
  }
  module->shared_limits[static_cast<const DecodedKernel*>(function)] = value;
  return kCudaSuccess;
}

CudaResult cuMemAlloc_v2(CudaPointer* address, size_t bytes) {
  ASSAY_ENTER(cuMemAlloc, kContext)
  if (bytes == 0) return Misuse("cuMemAlloc", "of nothing", kCudaInvalidValue);
  const auto made = State()->memory.Allocate(bytes, 256, "device memory");
  if (!made.ok()) return kCudaOutOfMemory;
  *address = *made;
  State()->allocations.insert(*made);
  return kCudaSuccess;
}

CudaResult cuMemFree_v2(CudaPointer address) {
  ASSAY_ENTER(cuMemFree, kContext)
  State()->allocations.erase(address);
  return OfStatus("cuMemFree", State()->memory.Free(address));
}

CudaResult cuMemcpyHtoDAsync_v2(CudaPointer to, const void* from, size_t bytes, CudaHandle stream) {
  ASSAY_ENTER(cuMemcpyHtoDAsync, kContext)
  ASSAY_CHECK_STREAM(cuMemcpyHtoDAsync, stream)
  return OfStatus("cuMemcpyHtoDAsync",
                  State()->memory.CopyIn(to, {static_cast<const std::byte*>(from), bytes}));
}

CudaResult cuMemcpyDtoHAsync_v2(void* to, CudaPointer from, size_t bytes, CudaHandle stream) {
  ASSAY_ENTER(cuMemcpyDtoHAsync, kContext)
  ASSAY_CHECK_STREAM(cuMemcpyDtoHAsync, stream)
  return OfStatus("cuMemcpyDtoHAsync",
                  State()->memory.CopyOut(from, {static_cast<std::byte*>(to), bytes}));
}

CudaResult cuMemcpyDtoDAsync_v2(CudaPointer to, CudaPointer from, size_t bytes, CudaHandle stream) {
  ASSAY_ENTER(cuMemcpyDtoDAsync, kContext)
  ASSAY_CHECK_STREAM(cuMemcpyDtoDAsync, stream)
  return OfStatus("cuMemcpyDtoDAsync", State()->memory.CopyWithin(to, from, bytes));
}

CudaResult cuMemsetD8Async(CudaPointer to, unsigned char value, size_t bytes, CudaHandle stream) {
  ASSAY_ENTER(cuMemsetD8Async, kContext)
  ASSAY_CHECK_STREAM(cuMemsetD8Async, stream)
  return OfStatus("cuMemsetD8Async",
                  State()->memory.Fill(to, bytes, static_cast<std::byte>(value)));
}

CudaResult cuStreamCreate(CudaHandle* stream, unsigned) {
  ASSAY_ENTER(cuStreamCreate, kContext)
  *stream = HandleOf(State()->next_handle);
  State()->streams.insert(State()->next_handle++);
  return kCudaSuccess;
}

CudaResult cuStreamDestroy_v2(CudaHandle stream) {
  ASSAY_ENTER(cuStreamDestroy, kContext)
  ASSAY_CHECK_STREAM(cuStreamDestroy, stream)
  State()->streams.erase(NumberOf(stream));
  return kCudaSuccess;
}

CudaResult cuStreamSynchronize(CudaHandle stream) {
  ASSAY_ENTER(cuStreamSynchronize, kContext)
  return CheckStream("cuStreamSynchronize", stream);
}

static CudaResult CheckEvent(const char* name, CudaHandle event) {
  if (State()->events.contains(NumberOf(event))) return kCudaSuccess;
  return Misuse(name, "an event that is not there", kCudaInvalidHandle);
}

CudaResult cuStreamWaitEvent(CudaHandle stream, CudaHandle event, unsigned) {
  ASSAY_ENTER(cuStreamWaitEvent, kContext)
  ASSAY_CHECK_STREAM(cuStreamWaitEvent, stream)
  return CheckEvent("cuStreamWaitEvent", event);
}

CudaResult cuEventCreate(CudaHandle* event, unsigned) {
  ASSAY_ENTER(cuEventCreate, kContext)
  *event = HandleOf(State()->next_handle);
  State()->events.insert(State()->next_handle++);
  return kCudaSuccess;
}

CudaResult cuEventRecord(CudaHandle event, CudaHandle stream) {
  ASSAY_ENTER(cuEventRecord, kContext)
  ASSAY_CHECK_STREAM(cuEventRecord, stream)
  return CheckEvent("cuEventRecord", event);
}

CudaResult cuEventSynchronize(CudaHandle event) {
  ASSAY_ENTER(cuEventSynchronize, kContext)
  return CheckEvent("cuEventSynchronize", event);
}

CudaResult cuEventElapsedTime(float* milliseconds, CudaHandle start, CudaHandle end) {
  ASSAY_ENTER(cuEventElapsedTime, kContext)
  *milliseconds = 0.5f;
  const CudaResult first = CheckEvent("cuEventElapsedTime", start);
  return first != kCudaSuccess ? first : CheckEvent("cuEventElapsedTime", end);
}

CudaResult cuEventDestroy_v2(CudaHandle event) {
  ASSAY_ENTER(cuEventDestroy, kContext)
  const CudaResult checked = CheckEvent("cuEventDestroy", event);
  State()->events.erase(NumberOf(event));
  return checked;
}

CudaResult cuLaunchKernel(CudaHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                          unsigned block_x, unsigned block_y, unsigned block_z,
                          unsigned shared_bytes, CudaHandle stream, void** parameters,
                          void** extra) {
  ASSAY_ENTER(cuLaunchKernel, kContext)
  ASSAY_CHECK_STREAM(cuLaunchKernel, stream)
  StandInModule* module = ModuleOf(function);
  if (module == nullptr) return Misuse("cuLaunchKernel", "no such function", kCudaInvalidHandle);
  const auto* kernel = static_cast<const DecodedKernel*>(function);
  const auto limit = module->shared_limits.find(kernel);
  if (shared_bytes > (limit == module->shared_limits.end() ? 48 * 1024 : limit->second)) {
    return Misuse("cuLaunchKernel", "more shared memory than was asked for", kCudaInvalidValue);
  }
  if (extra != nullptr) return Misuse("cuLaunchKernel", "extra is not used", kCudaInvalidValue);
  std::vector<KernelArgument> arguments;
  for (size_t k = 0; k < kernel->code().arguments.size(); ++k) {
    uint64_t bits = 0;
    if (parameters[k] == nullptr) {
      return Misuse("cuLaunchKernel", "a parameter is missing", kCudaInvalidValue);
    }
    std::memcpy(&bits, parameters[k], kernel->code().arguments[k].bytes);
    arguments.push_back(KernelArgument::Scalar(bits));
  }
  Simulator simulator({.seed = static_cast<uint64_t>(State()->calls)});
  const absl::Status status = simulator.Launch(*kernel,
                                               {.grid = {grid_x, grid_y, grid_z},
                                                .block = {block_x, block_y, block_z},
                                                .dynamic_shared_bytes = shared_bytes},
                                               arguments, State()->memory);
  if (status.ok()) return kCudaSuccess;
  if (!FindingOf(status).has_value()) return OfStatus("cuLaunchKernel", status);
  State()->lost = kCudaLaunchFailed;
  return Misuse("cuLaunchKernel", std::string(status.message()), kCudaLaunchFailed);
}

}  // extern "C"
