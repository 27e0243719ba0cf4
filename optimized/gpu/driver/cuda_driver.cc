// The driver's library, and sessions on its devices.
#include "optimized/gpu/driver/cuda_driver.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "spec/base/status_macros.h"

namespace assay::gpu {
namespace {

constexpr const char* kHowToGet =
    "; the backend gpu needs an NVIDIA GPU with its driver (Debian: nvidia-driver, which brings "
    "libcuda1; in a container: the flag --gpus all). ASSAY_LIBCUDA names another library. "
    "The backend gpu-sim runs the same kernels without a GPU";

}  // namespace

absl::Status CudaDriver::FindCalls() {
#define ASSAY_CUDA_FIND(name, ...)                                                             \
  calls_.name = reinterpret_cast<CudaResult (*)(__VA_ARGS__)>(dlsym(library_, #name));         \
  if (calls_.name == nullptr) {                                                                \
    return absl::UnavailableError(                                                             \
        absl::StrCat("the CUDA driver has no ", #name, ": it is older than 11.4", kHowToGet)); \
  }
  ASSAY_CUDA_CALLS(ASSAY_CUDA_FIND)
#undef ASSAY_CUDA_FIND
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<CudaDriver>> CudaDriver::Load(const std::string& library) {
  const char* named = std::getenv("ASSAY_LIBCUDA");
  const std::string path = !library.empty()                  ? library
                           : named != nullptr && *named != 0 ? std::string(named)
                                                             : "libcuda.so.1";
  std::unique_ptr<CudaDriver> driver(new CudaDriver());
  driver->library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (driver->library_ == nullptr) {
    const char* why = dlerror();
    return absl::UnavailableError(absl::StrCat(
        "there is no CUDA driver: ", why == nullptr ? path : std::string(why), kHowToGet));
  }
  ASSAY_RETURN_IF_ERROR(driver->FindCalls());
  const auto check = [&](CudaResult result, const char* what) {
    if (result == kCudaSuccess) return absl::OkStatus();
    return absl::UnavailableError(
        absl::StrCat(what, " of the CUDA driver: ", driver->TextOf(result), kHowToGet));
  };
  ASSAY_RETURN_IF_ERROR(check(driver->calls_.cuInit(0), "the start"));
  ASSAY_RETURN_IF_ERROR(check(driver->calls_.cuDriverGetVersion(&driver->version_), "the version"));
  ASSAY_RETURN_IF_ERROR(
      check(driver->calls_.cuDeviceGetCount(&driver->device_count_), "the number of devices"));
  if (driver->device_count_ == 0) {
    return absl::UnavailableError(absl::StrCat("the CUDA driver has no device", kHowToGet));
  }
  return driver;
}

CudaDriver::~CudaDriver() {
  // The driver's library stays: it has threads of its own, which nothing ends.
}

std::string CudaDriver::TextOf(CudaResult result) const {
  const char* name = nullptr;
  const char* text = nullptr;
  if (calls_.cuGetErrorName(result, &name) != kCudaSuccess || name == nullptr) {
    return absl::StrCat("error ", result);
  }
  if (calls_.cuGetErrorString(result, &text) != kCudaSuccess || text == nullptr) return name;
  return absl::StrCat(name, " (", text, ")");
}

bool LosesContext(CudaResult result) {
  return result == kCudaIllegalAddress || result == kCudaLaunchTimeout ||
         (result >= 714 && result <= kCudaLaunchFailed) || result == kCudaUnknown;
}

// ---- what a session owns ----

CudaBuffer& CudaBuffer::operator=(CudaBuffer&& other) noexcept {
  std::swap(session_, other.session_);
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  return *this;
}
CudaBuffer::~CudaBuffer() {
  if (session_ == nullptr || address_ == 0) return;
  (void)session_->Check(session_->driver_.calls().cuMemFree_v2(address_), "freeing memory");
}

CudaModule& CudaModule::operator=(CudaModule&& other) noexcept {
  std::swap(session_, other.session_);
  std::swap(module_, other.module_);
  return *this;
}
CudaModule::~CudaModule() {
  if (session_ == nullptr || module_ == nullptr) return;
  (void)session_->Check(session_->driver_.calls().cuModuleUnload(module_), "unloading a module");
}

CudaEvent& CudaEvent::operator=(CudaEvent&& other) noexcept {
  std::swap(session_, other.session_);
  std::swap(event_, other.event_);
  return *this;
}
CudaEvent::~CudaEvent() {
  if (session_ == nullptr || event_ == nullptr) return;
  (void)session_->Check(session_->driver_.calls().cuEventDestroy_v2(event_), "ending an event");
}

CudaGraph& CudaGraph::operator=(CudaGraph&& other) noexcept {
  std::swap(session_, other.session_);
  std::swap(executable_, other.executable_);
  return *this;
}
CudaGraph::~CudaGraph() {
  if (session_ == nullptr || executable_ == nullptr) return;
  (void)session_->Check(session_->driver_.calls().cuGraphExecDestroy(executable_),
                        "ending a graph");
}

// ---- sessions ----

absl::Status CudaSession::Alive() const {
  if (lost_ == kCudaSuccess) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "the GPU's context was lost by ", driver_.TextOf(lost_), "; only a new process can use it"));
}

absl::Status CudaSession::Check(CudaResult result, std::string_view what) {
  if (result == kCudaSuccess) return absl::OkStatus();
  const std::string text = absl::StrCat(std::string(what), ": ", driver_.TextOf(result));
  if (LosesContext(result)) {
    lost_ = result;
    return absl::InternalError(
        absl::StrCat(text, "; the context is lost, and only a new process can use the GPU"));
  }
  if (result == kCudaOutOfMemory) {
    return absl::ResourceExhaustedError(
        absl::StrCat(text, "; the device has ", facts_.memory_bytes >> 20, " MiB"));
  }
  return absl::InternalError(text);
}

absl::StatusOr<std::unique_ptr<CudaSession>> CudaSession::Open(const CudaDriver& driver,
                                                               int ordinal) {
  if (ordinal < 0 || ordinal >= driver.device_count()) {
    return absl::InvalidArgumentError(absl::StrCat("there is no GPU number ", ordinal, ", only ",
                                                   driver.device_count(), " from 0 on"));
  }
  std::unique_ptr<CudaSession> session(new CudaSession(driver));
  ASSAY_RETURN_IF_ERROR(session->Start(ordinal));
  return session;
}

absl::Status CudaSession::ReadFacts() {
  const CudaCalls& calls = driver_.calls();
  char name[256] = {};
  ASSAY_RETURN_IF_ERROR(
      Check(calls.cuDeviceGetName(name, sizeof(name) - 1, device_), "the device's name"));
  facts_.name = name;
  size_t bytes = 0;
  ASSAY_RETURN_IF_ERROR(Check(calls.cuDeviceTotalMem_v2(&bytes, device_), "the device's memory"));
  facts_.memory_bytes = bytes;
  int major = 0, minor = 0;
  const std::pair<int, int*> attributes[] = {{kCudaComputeMajor, &major},
                                             {kCudaComputeMinor, &minor},
                                             {kCudaMultiprocessors, &facts_.multiprocessors},
                                             {kCudaSharedBytesOptIn, &facts_.shared_bytes}};
  for (const auto& [attribute, value] : attributes) {
    ASSAY_RETURN_IF_ERROR(
        Check(calls.cuDeviceGetAttribute(value, attribute, device_), "a fact of the device"));
  }
  facts_.compute = 10 * major + minor;
  return absl::OkStatus();
}

absl::Status CudaSession::Start(int ordinal) {
  const CudaCalls& calls = driver_.calls();
  ASSAY_RETURN_IF_ERROR(Check(calls.cuDeviceGet(&device_, ordinal), "the device"));
  ASSAY_RETURN_IF_ERROR(ReadFacts());
  ASSAY_RETURN_IF_ERROR(
      Check(calls.cuDevicePrimaryCtxRetain(&context_, device_), "the device's context"));
  ASSAY_RETURN_IF_ERROR(Enter());
  return Stream().status();
}

absl::StatusOr<CudaHandle> CudaSession::Stream() {
  ASSAY_RETURN_IF_ERROR(Alive());
  if (streams_.size() <= stream_) streams_.resize(stream_ + 1);
  CudaHandle& stream = streams_[stream_];
  if (stream == nullptr) {
    ASSAY_RETURN_IF_ERROR(
        Check(driver_.calls().cuStreamCreate(&stream, kCudaStreamNonBlocking), "a stream"));
  }
  return stream;
}

absl::Status CudaSession::Enter() {
  ASSAY_RETURN_IF_ERROR(Alive());
  return Check(driver_.calls().cuCtxSetCurrent(context_), "entering the context");
}

CudaSession::~CudaSession() {
  const CudaCalls& calls = driver_.calls();
  // Nobody is left to be told of errors.
  for (CudaHandle stream : streams_)
    if (stream != nullptr) (void)Check(calls.cuStreamDestroy_v2(stream), "ending a stream");
  if (context_ != nullptr) {
    (void)Check(calls.cuCtxSetCurrent(nullptr), "leaving the context");
    (void)Check(calls.cuDevicePrimaryCtxRelease_v2(device_), "giving back the context");
  }
}

absl::StatusOr<CudaBuffer> CudaSession::Allocate(uint64_t bytes) {
  ASSAY_RETURN_IF_ERROR(Alive());
  CudaBuffer buffer;
  CudaPointer address = 0;
  // The driver refuses to allocate nothing.
  ASSAY_RETURN_IF_ERROR(Check(driver_.calls().cuMemAlloc_v2(&address, bytes == 0 ? 1 : bytes),
                              absl::StrCat("allocating ", bytes, " bytes")));
  buffer.session_ = this;
  buffer.address_ = address;
  buffer.bytes_ = bytes;
  return buffer;
}

absl::Status CudaSession::CopyIn(uint64_t address, absl::Span<const std::byte> bytes) {
  ASSAY_RETURN_IF_ERROR(Alive());
  if (bytes.empty()) return absl::OkStatus();
  ASSAY_ASSIGN_OR_RETURN(CudaHandle const stream, Stream());
  if (watch_ != nullptr) ASSAY_RETURN_IF_ERROR(Wait(stream));
  ASSAY_RETURN_IF_ERROR(
      Check(driver_.calls().cuMemcpyHtoDAsync_v2(address, bytes.data(), bytes.size(), stream),
            absl::StrCat("copying ", bytes.size(), " bytes to the GPU")));
  return Synchronise();
}

absl::Status CudaSession::CopyOut(uint64_t address, absl::Span<std::byte> bytes) {
  ASSAY_RETURN_IF_ERROR(Alive());
  if (bytes.empty()) return absl::OkStatus();
  ASSAY_ASSIGN_OR_RETURN(CudaHandle const stream, Stream());
  if (watch_ != nullptr) ASSAY_RETURN_IF_ERROR(Wait(stream));
  ASSAY_RETURN_IF_ERROR(
      Check(driver_.calls().cuMemcpyDtoHAsync_v2(bytes.data(), address, bytes.size(), stream),
            absl::StrCat("copying ", bytes.size(), " bytes from the GPU")));
  return Synchronise();
}

absl::Status CudaSession::CopyWithin(uint64_t to, uint64_t from, uint64_t bytes) {
  ASSAY_RETURN_IF_ERROR(Alive());
  if (bytes == 0) return absl::OkStatus();
  ASSAY_ASSIGN_OR_RETURN(CudaHandle const stream, Stream());
  return Check(driver_.calls().cuMemcpyDtoDAsync_v2(to, from, bytes, stream),
               absl::StrCat("copying ", bytes, " bytes on the GPU"));
}

absl::Status CudaSession::Fill(uint64_t address, uint64_t bytes, std::byte value) {
  ASSAY_RETURN_IF_ERROR(Alive());
  if (bytes == 0) return absl::OkStatus();
  ASSAY_ASSIGN_OR_RETURN(CudaHandle const stream, Stream());
  return Check(
      driver_.calls().cuMemsetD8Async(address, static_cast<unsigned char>(value), bytes, stream),
      absl::StrCat("filling ", bytes, " bytes"));
}

absl::StatusOr<CudaModule> CudaSession::Load(const std::string& image) {
  ASSAY_RETURN_IF_ERROR(Alive());
  CudaModule module;
  ASSAY_RETURN_IF_ERROR(
      Check(driver_.calls().cuModuleLoadDataEx(&module.module_, image.c_str(), 0, nullptr, nullptr),
            absl::StrCat("loading a module of ", image.size(), " bytes")));
  module.session_ = this;
  return module;
}

absl::StatusOr<CudaHandle> CudaSession::Function(const CudaModule& module,
                                                 const std::string& name) {
  ASSAY_RETURN_IF_ERROR(Alive());
  CudaHandle function = nullptr;
  ASSAY_RETURN_IF_ERROR(
      Check(driver_.calls().cuModuleGetFunction(&function, module.module_, name.c_str()),
            absl::StrCat("kernel \"", name, "\"")));
  return function;
}

absl::Status CudaSession::Launch(CudaHandle function, const CudaLaunch& launch) {
  ASSAY_RETURN_IF_ERROR(Alive());
  ASSAY_ASSIGN_OR_RETURN(CudaHandle const stream, Stream());
  constexpr uint32_t kWithoutAsking = 48 * 1024;
  if (launch.dynamic_shared_bytes > kWithoutAsking) {
    ASSAY_RETURN_IF_ERROR(
        Check(driver_.calls().cuFuncSetAttribute(function, kCudaDynamicSharedBytes,
                                                 static_cast<int>(launch.dynamic_shared_bytes)),
              absl::StrCat(launch.dynamic_shared_bytes, " bytes of shared memory")));
  }
  std::vector<uint64_t> values(launch.arguments.begin(), launch.arguments.end());
  std::vector<void*> places;
  for (uint64_t& value : values) places.push_back(&value);
  const auto& [grid, block] = std::tie(launch.grid, launch.block);
  return Check(driver_.calls().cuLaunchKernel(function, grid[0], grid[1], grid[2], block[0],
                                              block[1], block[2], launch.dynamic_shared_bytes,
                                              stream, places.data(), nullptr),
               "launching a kernel");
}

absl::Status CudaSession::Wait(CudaHandle stream) {
  if (watch_ == nullptr)
    return Check(driver_.calls().cuStreamSynchronize(stream), "waiting for the GPU");
  // Short waits are answered at once; long ones leave the processor to other devices' threads.
  constexpr auto kLongest = std::chrono::microseconds(200);
  for (auto pause = std::chrono::microseconds(1);; pause = std::min(pause * 2, kLongest)) {
    const CudaResult result = driver_.calls().cuStreamQuery(stream);
    if (result != kCudaNotReady) return Check(result, "waiting for the GPU");
    ASSAY_RETURN_IF_ERROR(watch_());
    std::this_thread::sleep_for(pause);
  }
}

absl::Status CudaSession::Synchronise() {
  ASSAY_ASSIGN_OR_RETURN(CudaHandle const stream, Stream());
  return Wait(stream);
}

absl::Status CudaSession::SynchroniseAll() {
  ASSAY_RETURN_IF_ERROR(Alive());
  for (CudaHandle stream : streams_) {
    if (stream != nullptr) ASSAY_RETURN_IF_ERROR(Wait(stream));
  }
  return absl::OkStatus();
}

// ---- events and graphs ----

absl::StatusOr<CudaEvent> CudaSession::MakeEvent() {
  ASSAY_RETURN_IF_ERROR(Alive());
  CudaEvent event;
  ASSAY_RETURN_IF_ERROR(
      Check(driver_.calls().cuEventCreate(&event.event_, kCudaEventWithoutTime), "an event"));
  event.session_ = this;
  return event;
}

absl::Status CudaSession::Record(const CudaEvent& event) {
  ASSAY_ASSIGN_OR_RETURN(CudaHandle const stream, Stream());
  return Check(driver_.calls().cuEventRecord(event.event_, stream), "recording an event");
}

absl::Status CudaSession::Await(const CudaEvent& event) {
  ASSAY_ASSIGN_OR_RETURN(CudaHandle const stream, Stream());
  return Check(driver_.calls().cuStreamWaitEvent(stream, event.event_, 0), "waiting for an event");
}

absl::Status CudaSession::BeginCapture() {
  UseStream(0);
  ASSAY_ASSIGN_OR_RETURN(CudaHandle const stream, Stream());
  return Check(driver_.calls().cuStreamBeginCapture_v2(stream, kCudaCaptureThreadLocal),
               "capturing a graph");
}

absl::StatusOr<CudaGraph> CudaSession::EndCapture() {
  UseStream(0);
  ASSAY_ASSIGN_OR_RETURN(CudaHandle const stream, Stream());
  const CudaCalls& calls = driver_.calls();
  CudaHandle captured = nullptr;
  const absl::Status ended = Check(calls.cuStreamEndCapture(stream, &captured), "ending a capture");
  CudaGraph graph;
  absl::Status made = ended;
  if (ended.ok()) {
    made = Check(calls.cuGraphInstantiateWithFlags(&graph.executable_, captured, 0), "a graph");
  }
  // The executable graph needs it no more.
  if (captured != nullptr) {
    const absl::Status destroyed = Check(calls.cuGraphDestroy(captured), "ending a graph");
    if (made.ok()) made = destroyed;
  }
  if (graph.executable_ != nullptr) graph.session_ = this;
  ASSAY_RETURN_IF_ERROR(made);
  return graph;
}

absl::Status CudaSession::Launch(const CudaGraph& graph) {
  ASSAY_ASSIGN_OR_RETURN(CudaHandle const stream, Stream());
  return Check(driver_.calls().cuGraphLaunch(graph.executable_, stream), "launching a graph");
}

}  // namespace assay::gpu
