// The CUDA driver, found at run time, and one device of it: memory, modules, launches on a stream.
// Errors are values with what was attempted and what helps. After an error that loses the context,
// all that follows on the device fails at once and says so.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "optimized/gpu/driver/cuda_calls.h"

namespace assay::gpu {

class CudaDriver {
 public:
  // From `library`, or $ASSAY_LIBCUDA, or libcuda.so.1. Unavailable, with what is missing and how
  // to get it, where there is none or it has no device.
  static absl::StatusOr<std::unique_ptr<CudaDriver>> Load(const std::string& library = "");
  ~CudaDriver();
  CudaDriver(const CudaDriver&) = delete;
  CudaDriver& operator=(const CudaDriver&) = delete;

  const CudaCalls& calls() const { return calls_; }
  int version() const { return version_; }  // 13000: 13.0
  int device_count() const { return device_count_; }
  // The error's name and text.
  std::string TextOf(CudaResult result) const;

 private:
  CudaDriver() = default;
  absl::Status FindCalls();

  void* library_ = nullptr;
  CudaCalls calls_;
  int version_ = 0;
  int device_count_ = 0;
};

// Says of a result that it ends the context, so that only a new process can go on.
bool LosesContext(CudaResult result);

struct CudaDeviceFacts {
  std::string name;
  int compute = 0;  // 90: sm_90
  int multiprocessors = 0;
  int shared_bytes = 0;  // that a block may ask for
  uint64_t memory_bytes = 0;
};

class CudaSession;

// Memory of a device; freed with the object.
class CudaBuffer {
 public:
  CudaBuffer() = default;
  CudaBuffer(CudaBuffer&& other) noexcept { *this = std::move(other); }
  CudaBuffer& operator=(CudaBuffer&& other) noexcept;
  ~CudaBuffer();
  uint64_t address() const { return address_; }
  uint64_t bytes() const { return bytes_; }

 private:
  friend class CudaSession;
  CudaSession* session_ = nullptr;
  uint64_t address_ = 0, bytes_ = 0;
};

// Kernels of one image; unloaded with the object.
class CudaModule {
 public:
  CudaModule() = default;
  CudaModule(CudaModule&& other) noexcept { *this = std::move(other); }
  CudaModule& operator=(CudaModule&& other) noexcept;
  ~CudaModule();

 private:
  friend class CudaSession;
  CudaSession* session_ = nullptr;
  CudaHandle module_ = nullptr;
};

// A point in the work of a stream; destroyed with the object.
class CudaEvent {
 public:
  CudaEvent() = default;
  CudaEvent(CudaEvent&& other) noexcept { *this = std::move(other); }
  CudaEvent& operator=(CudaEvent&& other) noexcept;
  ~CudaEvent();
  bool is_there() const { return event_ != nullptr; }

 private:
  friend class CudaSession;
  CudaSession* session_ = nullptr;
  CudaHandle event_ = nullptr;
};

// Work that was captured, ready to be launched as a whole; destroyed with the object.
class CudaGraph {
 public:
  CudaGraph() = default;
  CudaGraph(CudaGraph&& other) noexcept { *this = std::move(other); }
  CudaGraph& operator=(CudaGraph&& other) noexcept;
  ~CudaGraph();
  bool is_there() const { return executable_ != nullptr; }

 private:
  friend class CudaSession;
  CudaSession* session_ = nullptr;
  CudaHandle executable_ = nullptr;
};

struct CudaLaunch {
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  uint32_t dynamic_shared_bytes = 0;
  // Each argument's bits: addresses, or scalars of up to 8 bytes.
  absl::Span<const uint64_t> arguments;
};

// A device's primary context and its streams, of which one is in use. Used by one thread at a time;
// buffers and modules must not outlive it.
class CudaSession {
 public:
  static absl::StatusOr<std::unique_ptr<CudaSession>> Open(const CudaDriver& driver, int ordinal);
  ~CudaSession();
  CudaSession(const CudaSession&) = delete;
  CudaSession& operator=(const CudaSession&) = delete;

  const CudaDeviceFacts& facts() const { return facts_; }
  // Makes the context that of the calling thread, which is to be done in each one.
  absl::Status Enter();
  absl::StatusOr<CudaBuffer> Allocate(uint64_t bytes);
  // Copies and launches are ordered on the stream in use, which is number 0 at first. One that
  // cannot be made is an error of the next call that needs it.
  void UseStream(int number) { stream_ = static_cast<size_t>(number); }
  // The stream in use, for libraries, which work on it, too.
  absl::StatusOr<CudaHandle> Stream();
  absl::StatusOr<CudaEvent> MakeEvent();
  absl::Status Record(const CudaEvent& event);
  absl::Status Await(const CudaEvent& event);
  // A capture takes in stream 0 and all that waits for it; nothing is done meanwhile.
  absl::Status BeginCapture();
  absl::StatusOr<CudaGraph> EndCapture();
  absl::Status Launch(const CudaGraph& graph);
  // Work on a stream may wait for other devices, and the driver with it for ever: with a watch,
  // waiting means asking the stream, and the watch in between, whose error ends the wait. Copies
  // from and to the host wait in that way first. Null: there is none.
  void SetWatch(std::function<absl::Status()> watch) { watch_ = std::move(watch); }
  // CopyOut waits for all that came before; CopyIn until the
  // bytes may go.
  absl::Status CopyIn(uint64_t address, absl::Span<const std::byte> bytes);
  absl::Status CopyOut(uint64_t address, absl::Span<std::byte> bytes);
  absl::Status CopyWithin(uint64_t to, uint64_t from, uint64_t bytes);
  absl::Status Fill(uint64_t address, uint64_t bytes, std::byte value);
  // PTX text (ends with its zero) or a cubin.
  absl::StatusOr<CudaModule> Load(const std::string& image);
  absl::StatusOr<CudaHandle> Function(const CudaModule& module, const std::string& name);
  absl::Status Launch(CudaHandle function, const CudaLaunch& launch);
  absl::Status Synchronise();     // with the stream in use
  absl::Status SynchroniseAll();  // with all
  bool is_lost() const { return lost_ != kCudaSuccess; }

 private:
  friend class CudaBuffer;
  friend class CudaModule;
  friend class CudaEvent;
  friend class CudaGraph;
  explicit CudaSession(const CudaDriver& driver) : driver_(driver) {}
  absl::Status Start(int ordinal);
  absl::Status ReadFacts();
  // The error of a result; notes those that lose the context.
  absl::Status Check(CudaResult result, std::string_view what);
  absl::Status Wait(CudaHandle stream);
  // The error of a context that was lost before.
  absl::Status Alive() const;

  const CudaDriver& driver_;
  CudaDevice device_ = 0;
  CudaHandle context_ = nullptr;
  std::vector<CudaHandle> streams_;  // by number; null: not made yet
  size_t stream_ = 0;
  CudaDeviceFacts facts_;
  std::function<absl::Status()> watch_;
  CudaResult lost_ = kCudaSuccess;
};

}  // namespace assay::gpu
