// The device that a program of launches runs on: the simulator, or a GPU behind its driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "optimized/gpu/driver/cuda_driver.h"
#include "optimized/gpu/driver/libraries/device_libraries.h"
#include "optimized/gpu/driver/libraries/nccl.h"
#include "optimized/gpu/driver/module_image.h"
#include "optimized/gpu/program/device_collective.h"
#include "optimized/gpu/program/run_clock.h"
#include "optimized/gpu/simulator/simulator.h"
#include "optimized/gpu/target/architecture.h"
#include "optimized/runtime/collectives.h"
#include "spec/ir/instruction.h"

namespace assay::gpu {

// One device's part in one collective.
struct DevicePart {
  const Instruction& collective;
  const CollectivePlan& plan;
  const NcclForm& form;
  int64_t device = 0;
};

// Memory and launches, on streams: what is put on one is done in that order, the rest as events
// say. What was allocated is given back with the object.
class RunDevice {
 public:
  virtual ~RunDevice() = default;
  // All that follows goes to that stream; at first to stream 0.
  virtual void UseStream(int stream) = 0;
  // Events stand for all that was put on the stream before; what is put there behind Await comes
  // after it.
  virtual absl::Status Record(int event) = 0;
  virtual absl::Status Await(int event) = 0;
  // A stretch of launches that the device may keep, to replay it as a whole on stream 0. True: it
  // did. False: they are to be made now, and EndStretch called.
  virtual absl::StatusOr<bool> BeginStretch(int number) {
    static_cast<void>(number);
    return false;
  }
  virtual absl::Status EndStretch(int number) {
    static_cast<void>(number);
    return absl::OkStatus();
  }
  virtual absl::StatusOr<uint64_t> Allocate(uint64_t bytes, std::string_view name) = 0;
  // Copies from and to the host have been made when they return.
  virtual absl::Status CopyIn(uint64_t address, absl::Span<const std::byte> bytes) = 0;
  virtual absl::Status CopyOut(uint64_t address, absl::Span<std::byte> bytes) = 0;
  virtual absl::Status CopyWithin(uint64_t to, uint64_t from, uint64_t bytes) = 0;
  // Another value begins to live there; devices that do not watch need not know.
  virtual absl::Status Forget(uint64_t address, uint64_t bytes) = 0;
  // `may_write`: by argument, whether the program lets the kernel write there; empty: everywhere.
  virtual absl::Status Launch(const DecodedKernel& kernel, const LaunchShape& shape,
                              absl::Span<const KernelArgument> arguments,
                              absl::Span<const uint8_t> may_write) = 0;
  // A library call on arrays of the device, an address per operand and per leaf of the result.
  // False: this device has no library for it.
  virtual absl::StatusOr<bool> CallLibrary(const Instruction& instruction,
                                           absl::Span<const uint64_t> operands,
                                           absl::Span<const uint64_t> results) {
    static_cast<void>(instruction), static_cast<void>(operands), static_cast<void>(results);
    return false;
  }
  // True if the device has a way to its partners that needs no host, for programs that ask for one.
  virtual bool HasCollectives() const { return false; }
  // A device's part in a collective, on the stream in use; its partners do theirs.
  virtual absl::Status Collect(const DevicePart& part, absl::Span<const uint64_t> operands,
                               absl::Span<const uint64_t> results) {
    static_cast<void>(part), static_cast<void>(operands), static_cast<void>(results);
    return absl::UnimplementedError("this device has no collectives");
  }
  // Waits for all streams.
  virtual absl::Status Finish() = 0;
  virtual uint64_t bytes_in_use() const = 0;
  // The time of all that was done so far; a GPU keeps no such clock.
  virtual RunClock clock() const { return {}; }
};

// `simulator` outlives the device. Its seed draws the order in which streams go on; its clock goes
// as the architecture's would.
std::unique_ptr<RunDevice> MakeSimulatedDevice(Simulator& simulator,
                                               const Architecture& architecture,
                                               uint64_t memory_limit);

// The things that a GPU has beside its session. Both may be null, and outlive the device otherwise.
struct CudaHelpers {
  const DeviceLibraries* libraries = nullptr;
  NcclCommunicators* communicators = nullptr;
};
// Loads the image. `session` outlives the device. `graphs`: stretches that come again are replayed
// as graphs.
absl::StatusOr<std::unique_ptr<RunDevice>> MakeCudaDevice(CudaSession& session,
                                                          const CudaHelpers& helpers,
                                                          const KernelImage& image, bool graphs);

}  // namespace assay::gpu
