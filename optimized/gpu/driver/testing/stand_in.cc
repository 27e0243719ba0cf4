// A stand-in for libcuda in tests: a library with the same calls, which runs kernels on the
// simulator, notes how it is misused, and fails where it is told to. It has as many devices,
// "Stand-in" of compute capability 9.0, as ASSAY_STAND_IN_DEVICES says, or one.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
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
#include "optimized/gpu/streams/kernel_ranges.h"

namespace assay::gpu {
namespace {

// The whole state of the pretended driver.
struct StandIn {
  bool is_initialised = false;
  std::vector<std::unique_ptr<StandInDevice>> devices;
  std::atomic<uint64_t> next_handle{0x1000};
  std::atomic<int> calls{0};
  int fail_at = -1;
  std::atomic<CudaResult> fail_code{kCudaSuccess}, lost{kCudaSuccess};
  std::map<std::string, int64_t> bends, counts;  // by call
  std::mutex reporting;
  std::string report;

  StandIn() {
    const char* count = std::getenv("ASSAY_STAND_IN_DEVICES");
    const char* seed = std::getenv("ASSAY_STAND_IN_SEED");
    const int number = count == nullptr ? 1 : std::atoi(count);
    for (int k = 0; k < number; ++k)
      devices.push_back(std::make_unique<StandInDevice>(
          k, (seed == nullptr ? 0 : std::strtoull(seed, nullptr, 10)) + k));
  }
  void Note(const std::string& text) {
    const std::lock_guard<std::mutex> lock(reporting);
    absl::StrAppend(&report, text, "\n");
  }
};

StandIn*& State() {
  static StandIn* state = new StandIn();
  return state;
}
// The context of each thread; the generation says whose it was before all began anew.
struct Current {
  StandInDevice* device = nullptr;
  const StandIn* state = nullptr;
};
thread_local Current current;
StandInDevice* Here() { return current.state == State() ? current.device : nullptr; }

constexpr uint64_t kFirstContext = 0x10;
CudaHandle HandleOf(uint64_t number) { return reinterpret_cast<CudaHandle>(number); }
uint64_t NumberOf(CudaHandle handle) { return reinterpret_cast<uint64_t>(handle); }

enum class Needs : uint8_t { kNothing, kInit, kContext };

// Each call begins here: whether it is told to fail, and whether it may be made now.
CudaResult Enter(const char* name, Needs needs) {
  StandIn& state = *State();
  {
    const std::lock_guard<std::mutex> lock(state.reporting);
    ++state.counts[name];
  }
  if (state.calls++ == state.fail_at) {
    if (state.fail_code == kCudaLaunchFailed || state.fail_code == kCudaIllegalAddress) {
      state.lost = state.fail_code.load();
    }
    return state.fail_code;
  }
  if (state.lost != kCudaSuccess) return state.lost;
  if (needs != Needs::kNothing && !state.is_initialised) {
    state.Note(absl::StrCat(name, " before cuInit"));
    return kCudaNotInitialised;
  }
  if (needs == Needs::kContext && Here() == nullptr) {
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
  if (Here()->stream_numbers.contains(NumberOf(stream))) return kCudaSuccess;
  return Misuse(name, "a stream that is not there", kCudaInvalidHandle);
}

CudaResult OfStatus(const char* name, const absl::Status& status) {
  if (status.ok()) return kCudaSuccess;
  return Misuse(name, std::string(status.message()), kCudaInvalidValue);
}

// The result of work on streams. A finding loses the context, as a kernel that strays does.
CudaResult OfWork(const char* name, const absl::Status& status) {
  if (status.ok()) return kCudaSuccess;
  if (status.code() == absl::StatusCode::kFailedPrecondition)
    return Misuse(name, std::string(status.message()), kCudaInvalidValue);
  State()->lost = kCudaLaunchFailed;
  return Misuse(name, std::string(status.message()), kCudaLaunchFailed);
}

std::vector<StandInLeaks>& Leaks() {
  static auto& leaks = *new std::vector<StandInLeaks>();
  return leaks;
}

// Things that are left when the last context of a device goes are leaks.
void NoteLeaks(const StandInDevice& device) {
  StandIn& state = *State();
  for (const uint64_t address : device.allocations) {
    state.Note(absl::StrCat("leaked: memory at ", absl::Hex(address)));
  }
  const auto note = [&](size_t count, const char* what) {
    for (size_t k = 0; k < count; ++k) state.Note(absl::StrCat("leaked: ", what));
  };
  note(device.modules.size(), "a module");
  note(device.stream_numbers.size(), "a stream");
  note(device.events.size(), "an event");
  note(device.graphs.size(), "a graph");
  note(device.executables.size(), "an executable graph");
}

// Work that waits in its stream until somebody waits for it.
CudaResult Put(const char* name, CudaHandle stream, StreamWork work) {
  if (const CudaResult checked = CheckStream(name, stream); checked != kCudaSuccess) return checked;
  return OfWork(name, Here()->streams.Enqueue(NumberOf(stream), std::move(work)));
}

}  // namespace

int64_t BendOf(const char* call) {
  const auto found = State()->bends.find(call);
  return found == State()->bends.end() ? 0 : found->second;
}
int EnterStandIn(const char* name) { return Enter(name, Needs::kContext); }
int EnterStandInAnywhere(const char* name) { return Enter(name, Needs::kInit); }
StandInDevice& CurrentDevice() { return *Here(); }
int CurrentDeviceNumber() { return Here() == nullptr ? -1 : Here()->number; }
void NoteMisuse(const std::string& text) { State()->Note(text); }
bool HasStandInStream(CudaHandle stream) {
  return Here()->stream_numbers.contains(NumberOf(stream));
}
CudaResult PutOnStream(CudaHandle stream, StreamWork work) {
  const std::string name = work.name;
  return Put(name.c_str(), stream, std::move(work));
}
CudaResult AdvanceStream(CudaHandle stream) {
  return OfWork("a collective", Here()->streams.Advance(NumberOf(stream)));
}
void RegisterLeaks(StandInLeaks leaks) { Leaks().push_back(std::move(leaks)); }

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
// Streams go on in another order.
void assayStandInSeed(uint64_t seed) {
  for (auto& device : State()->devices)
    device->streams = SimulatedStreams(seed + static_cast<uint64_t>(device->number));
}
// Changes a call by so much wherever it is made, as if its caller had made a mistake.
void assayStandInBend(const char* call, int64_t by) { State()->bends[call] = by; }
int64_t assayStandInCount(const char* call) { return State()->counts[call]; }
// Things that live: memory, modules, events and graphs.
int64_t assayStandInLiving() {
  size_t living = 0;
  for (const auto& device : State()->devices)
    living += device->allocations.size() + device->modules.size() + device->events.size() +
              device->graphs.size() + device->executables.size();
  return static_cast<int64_t>(living);
}
// A new process, as it were.
void assayStandInReset() {
  for (const StandInLeaks& leaks : Leaks()) leaks.forget();
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
  *count = static_cast<int>(State()->devices.size());
  return kCudaSuccess;
}

CudaResult cuDeviceGet(CudaDevice* device, int ordinal) {
  ASSAY_ENTER(cuDeviceGet, kInit)
  if (ordinal < 0 || ordinal >= static_cast<int>(State()->devices.size()))
    return Misuse("cuDeviceGet", "no such device", 101);
  *device = ordinal;
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

CudaResult cuDevicePrimaryCtxRetain(CudaHandle* context, CudaDevice device) {
  ASSAY_ENTER(cuDevicePrimaryCtxRetain, kInit)
  ++State()->devices[device]->retained;
  *context = HandleOf(kFirstContext + static_cast<uint64_t>(device));
  return kCudaSuccess;
}

CudaResult cuDevicePrimaryCtxRelease_v2(CudaDevice device) {
  ASSAY_ENTER(cuDevicePrimaryCtxRelease_v2, kInit)
  StandInDevice& at = *State()->devices[device];
  if (at.retained == 0) {
    return Misuse("cuDevicePrimaryCtxRelease", "more often than retained", kCudaInvalidContext);
  }
  if (--at.retained > 0) return kCudaSuccess;
  NoteLeaks(at);
  for (const auto& device : State()->devices)
    if (device->retained > 0) return kCudaSuccess;
  for (const StandInLeaks& leaks : Leaks()) leaks.note();
  return kCudaSuccess;
}

CudaResult cuCtxSetCurrent(CudaHandle context) {
  ASSAY_ENTER(cuCtxSetCurrent, kInit)
  const uint64_t number = NumberOf(context) - kFirstContext;
  if (context == nullptr) {
    current = {};
    return kCudaSuccess;
  }
  if (number >= State()->devices.size() || State()->devices[number]->retained == 0) {
    return Misuse("cuCtxSetCurrent", "no such context", kCudaInvalidContext);
  }
  current = {State()->devices[number].get(), State()};
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
  Here()->modules.emplace(made.get(), std::move(made));
  return kCudaSuccess;
}

CudaResult cuModuleUnload(CudaHandle module) {
  ASSAY_ENTER(cuModuleUnload, kContext)
  if (!Here()->streams.SynchroniseAll().ok()) Here()->streams.Drop();
  if (Here()->modules.erase(static_cast<StandInModule*>(module)) == 1) return kCudaSuccess;
  return Misuse("cuModuleUnload", "no such module", kCudaInvalidHandle);
}

CudaResult cuModuleGetFunction(CudaHandle* function, CudaHandle module, const char* name) {
  ASSAY_ENTER(cuModuleGetFunction, kContext)
  const auto found = Here()->modules.find(static_cast<StandInModule*>(module));
  if (found == Here()->modules.end()) {
    return Misuse("cuModuleGetFunction", "no such module", kCudaInvalidHandle);
  }
  const llvm::Function* kernel = found->second->module->getFunction(name);
  if (kernel == nullptr || kernel->isDeclaration()) return kCudaNotFound;
  std::unique_ptr<DecodedKernel>& decoded = found->second->kernels[name];
  if (decoded == nullptr) {
    auto made = Decode(*kernel);
    if (!made.ok()) return OfStatus("cuModuleGetFunction", made.status());
    decoded = *std::move(made);
    std::vector<uint64_t>& bytes = found->second->bytes[decoded.get()];
    for (unsigned k = 0; k < kernel->arg_size(); ++k) {
      const llvm::Attribute known = kernel->getAttributes().getParamAttr(k, kBytesAttribute);
      const auto [digits, access] = known.isValid() ? known.getValueAsString().split(' ')
                                                    : std::pair<llvm::StringRef, llvm::StringRef>();
      uint64_t number = 0;
      (void)absl::SimpleAtoi(digits.str(), &number);
      bytes.push_back(number);
      found->second->may_write[decoded.get()].push_back(access == "read" ? 0 : 1);
    }
  }
  *function = decoded.get();
  return kCudaSuccess;
}

// The module that has the function, or null.
static StandInModule* ModuleOf(CudaHandle function) {
  for (const auto& [module, owned] : Here()->modules) {
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
  if (bytes > 64) bytes += static_cast<size_t>(BendOf("cuMemAlloc"));
  const auto made = Here()->memory.Allocate(bytes, 256, "device memory");
  if (!made.ok()) return kCudaOutOfMemory;
  *address = *made;
  Here()->allocations.insert(*made);
  return kCudaSuccess;
}

CudaResult cuMemFree_v2(CudaPointer address) {
  ASSAY_ENTER(cuMemFree, kContext)
  // The driver waits, too.
  const CudaResult done = OfWork("cuMemFree", Here()->streams.SynchroniseAll());
  Here()->allocations.erase(address);
  if (done != kCudaSuccess) return done;
  return OfStatus("cuMemFree", Here()->memory.Free(address));
}

// Memory of the host that is not pinned is copied before the call returns, to where the driver
// keeps it meanwhile.
CudaResult cuMemcpyHtoDAsync_v2(CudaPointer to, const void* from, size_t bytes, CudaHandle stream) {
  ASSAY_ENTER(cuMemcpyHtoDAsync, kContext)
  bytes += static_cast<size_t>(BendOf("cuMemcpyHtoDAsync"));
  const auto* start = static_cast<const std::byte*>(from);
  DeviceMemory& memory = Here()->memory;
  return Put("cuMemcpyHtoDAsync", stream,
             {"a copy from the host",
              {},
              {{to, bytes}},
              [&memory, to, kept = std::vector<std::byte>(start, start + bytes)] {
                return memory.CopyIn(to, kept);
              }});
}

// Likewise, it is there when the call returns.
CudaResult cuMemcpyDtoHAsync_v2(void* to, CudaPointer from, size_t bytes, CudaHandle stream) {
  ASSAY_ENTER(cuMemcpyDtoHAsync, kContext)
  DeviceMemory& memory = Here()->memory;
  const CudaResult put =
      Put("cuMemcpyDtoHAsync", stream,
          {"a copy to the host", {{from, bytes}}, {}, [&memory, to, from, bytes] {
             return memory.CopyOut(from, {static_cast<std::byte*>(to), bytes});
           }});
  if (put != kCudaSuccess) return put;
  return OfWork("cuMemcpyDtoHAsync", Here()->streams.Synchronise(NumberOf(stream)));
}

CudaResult cuMemcpyDtoDAsync_v2(CudaPointer to, CudaPointer from, size_t bytes, CudaHandle stream) {
  ASSAY_ENTER(cuMemcpyDtoDAsync, kContext)
  bytes += static_cast<size_t>(BendOf("cuMemcpyDtoDAsync"));
  DeviceMemory& memory = Here()->memory;
  return Put("cuMemcpyDtoDAsync", stream,
             {"a copy on the device", {{from, bytes}}, {{to, bytes}}, [&memory, to, from, bytes] {
                return memory.CopyWithin(to, from, bytes);
              }});
}

CudaResult cuMemsetD8Async(CudaPointer to, unsigned char value, size_t bytes, CudaHandle stream) {
  ASSAY_ENTER(cuMemsetD8Async, kContext)
  DeviceMemory& memory = Here()->memory;
  return Put("cuMemsetD8Async", stream, {"a fill", {}, {{to, bytes}}, [&memory, to, value, bytes] {
                                           return memory.Fill(to, bytes,
                                                              static_cast<std::byte>(value));
                                         }});
}

CudaResult cuStreamCreate(CudaHandle* stream, unsigned) {
  ASSAY_ENTER(cuStreamCreate, kContext)
  const uint64_t number = State()->next_handle++;
  *stream = HandleOf(number);
  Here()->stream_numbers.insert(number);
  return kCudaSuccess;
}

CudaResult cuStreamDestroy_v2(CudaHandle stream) {
  ASSAY_ENTER(cuStreamDestroy, kContext)
  ASSAY_CHECK_STREAM(cuStreamDestroy, stream)
  // The driver does what was put on it all the same.
  const CudaResult done = OfWork("cuStreamDestroy", Here()->streams.Synchronise(NumberOf(stream)));
  Here()->stream_numbers.erase(NumberOf(stream));
  return done;
}

CudaResult cuStreamSynchronize(CudaHandle stream) {
  ASSAY_ENTER(cuStreamSynchronize, kContext)
  ASSAY_CHECK_STREAM(cuStreamSynchronize, stream)
  return OfWork("cuStreamSynchronize", Here()->streams.Synchronise(NumberOf(stream)));
}

// Whoever asks finds some more of it done. It never waits for other devices.
CudaResult cuStreamQuery(CudaHandle stream) {
  ASSAY_ENTER(cuStreamQuery, kContext)
  ASSAY_CHECK_STREAM(cuStreamQuery, stream)
  const absl::StatusOr<bool> is_done = Here()->streams.Query(NumberOf(stream));
  if (!is_done.ok()) return OfWork("cuStreamQuery", is_done.status());
  return *is_done ? kCudaSuccess : kCudaNotReady;
}

// ---- graphs ----

CudaResult cuStreamBeginCapture_v2(CudaHandle stream, int mode) {
  ASSAY_ENTER(cuStreamBeginCapture, kContext)
  ASSAY_CHECK_STREAM(cuStreamBeginCapture, stream)
  if (mode < 0 || mode > 2) return Misuse("cuStreamBeginCapture", "no such mode", 1);
  return OfWork("cuStreamBeginCapture", Here()->streams.BeginCapture(NumberOf(stream)));
}

CudaResult cuStreamEndCapture(CudaHandle stream, CudaHandle* graph) {
  ASSAY_ENTER(cuStreamEndCapture, kContext)
  ASSAY_CHECK_STREAM(cuStreamEndCapture, stream)
  auto captured = Here()->streams.EndCapture(NumberOf(stream));
  if (!captured.ok())
    return Misuse("cuStreamEndCapture", std::string(captured.status().message()),
                  kCudaCaptureUnjoined);
  const uint64_t number = State()->next_handle++;
  Here()->graphs[number] = *std::move(captured);
  *graph = HandleOf(number);
  return kCudaSuccess;
}

CudaResult cuGraphInstantiateWithFlags(CudaHandle* executable, CudaHandle graph,
                                       unsigned long long flags) {
  ASSAY_ENTER(cuGraphInstantiate, kContext)
  const auto found = Here()->graphs.find(NumberOf(graph));
  if (found == Here()->graphs.end() || flags != 0)
    return Misuse("cuGraphInstantiate", "no such graph or flags", kCudaInvalidValue);
  const uint64_t number = State()->next_handle++;
  Here()->executables[number] = found->second;
  *executable = HandleOf(number);
  return kCudaSuccess;
}

CudaResult cuGraphLaunch(CudaHandle executable, CudaHandle stream) {
  ASSAY_ENTER(cuGraphLaunch, kContext)
  ASSAY_CHECK_STREAM(cuGraphLaunch, stream)
  const auto found = Here()->executables.find(NumberOf(executable));
  if (found == Here()->executables.end())
    return Misuse("cuGraphLaunch", "no such graph", kCudaInvalidHandle);
  return OfWork("cuGraphLaunch", Here()->streams.Launch(found->second, NumberOf(stream)));
}

CudaResult cuGraphExecDestroy(CudaHandle executable) {
  ASSAY_ENTER(cuGraphExecDestroy, kContext)
  if (Here()->executables.erase(NumberOf(executable)) == 1) return kCudaSuccess;
  return Misuse("cuGraphExecDestroy", "no such graph", kCudaInvalidHandle);
}

// It does its work even where it is told to fail: nothing could be done about it.
CudaResult cuGraphDestroy(CudaHandle graph) {
  const CudaResult entered = Enter("cuGraphDestroy", Needs::kContext);
  if (Here() == nullptr) return entered;
  if (Here()->graphs.erase(NumberOf(graph)) == 1) return entered;
  return Misuse("cuGraphDestroy", "no such graph", kCudaInvalidHandle);
}

static CudaResult CheckEvent(const char* name, CudaHandle event) {
  if (Here()->events.contains(NumberOf(event))) return kCudaSuccess;
  return Misuse(name, "an event that is not there", kCudaInvalidHandle);
}

CudaResult cuStreamWaitEvent(CudaHandle stream, CudaHandle event, unsigned) {
  ASSAY_ENTER(cuStreamWaitEvent, kContext)
  ASSAY_CHECK_STREAM(cuStreamWaitEvent, stream)
  if (const CudaResult known = CheckEvent("cuStreamWaitEvent", event); known != kCudaSuccess)
    return known;
  if (BendOf("cuStreamWaitEvent") != 0) return kCudaSuccess;
  return OfWork("cuStreamWaitEvent", Here()->streams.Wait(NumberOf(stream), NumberOf(event)));
}

CudaResult cuEventCreate(CudaHandle* event, unsigned) {
  ASSAY_ENTER(cuEventCreate, kContext)
  const uint64_t number = State()->next_handle++;
  *event = HandleOf(number);
  Here()->events.insert(number);
  return kCudaSuccess;
}

CudaResult cuEventRecord(CudaHandle event, CudaHandle stream) {
  ASSAY_ENTER(cuEventRecord, kContext)
  ASSAY_CHECK_STREAM(cuEventRecord, stream)
  if (const CudaResult known = CheckEvent("cuEventRecord", event); known != kCudaSuccess)
    return known;
  uint64_t on = NumberOf(stream);
  if (BendOf("cuEventRecord") != 0) {
    // On another stream; where there is none yet, on one on which nothing was put.
    const auto is_other = [&](uint64_t number) { return number != on; };
    const std::set<uint64_t>& all = Here()->stream_numbers;
    const auto other = std::find_if(all.begin(), all.end(), is_other);
    on = other == all.end() ? 0 : *other;
  }
  return OfWork("cuEventRecord", Here()->streams.Record(NumberOf(event), on));
}

CudaResult cuEventDestroy_v2(CudaHandle event) {
  ASSAY_ENTER(cuEventDestroy, kContext)
  const CudaResult checked = CheckEvent("cuEventDestroy", event);
  Here()->events.erase(NumberOf(event));
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
    arguments.push_back(
        {bits, kernel->code().arguments[k].is_pointer ? module->bytes[kernel][k] : 0});
  }
  StreamWork work{absl::StrCat("kernel \"", kernel->name(), "\""), {}, {}, nullptr};
  AddRanges(*kernel, arguments, module->may_write[kernel], work);
  grid_x += static_cast<unsigned>(BendOf("cuLaunchKernel"));
  const LaunchShape shape{.grid = {grid_x, grid_y, grid_z},
                          .block = {block_x, block_y, block_z},
                          .dynamic_shared_bytes = shared_bytes};
  DeviceMemory& memory = Here()->memory;
  work.run = [kernel, shape, &memory, arguments = std::move(arguments),
              seed = static_cast<uint64_t>(State()->calls)] {
    Simulator simulator({.seed = seed});
    return simulator.Launch(*kernel, shape, arguments, memory);
  };
  return Put("cuLaunchKernel", stream, std::move(work));
}

}  // extern "C"
