// Stand-ins of libraries share this with that of the driver, in whose library they are: devices,
// each of which is used by one thread at a time, and a list of all that was done wrong.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "optimized/gpu/driver/cuda_calls.h"
#include "optimized/gpu/simulator/device_memory.h"
#include "optimized/gpu/simulator/simulator.h"
#include "optimized/gpu/streams/simulated_streams.h"

namespace assay::gpu {

struct StandInModule {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  std::map<std::string, std::unique_ptr<DecodedKernel>> kernels;
  std::map<const DecodedKernel*, uint32_t> shared_limits;
  // The image says this of each argument.
  std::map<const DecodedKernel*, std::vector<uint64_t>> bytes;
  std::map<const DecodedKernel*, std::vector<uint8_t>> may_write;
};

struct StandInDevice {
  explicit StandInDevice(int ordinal, uint64_t seed) : number(ordinal), streams(seed) {}

  int number;
  int retained = 0;
  DeviceMemory memory{
      uint64_t{1} << 30,
      DeviceMemory::kFirstAddress + static_cast<uint64_t>(number) * DeviceMemory::kAddresses};
  SimulatedStreams streams;
  std::map<StandInModule*, std::unique_ptr<StandInModule>> modules;
  std::set<uint64_t> allocations, stream_numbers, events;
  std::map<uint64_t, CapturedGraph> graphs, executables;  // by handle
};

// Each call of a library begins here: 0, or the error that it is told to give. It needs a context.
int EnterStandIn(const char* name);
// Begins a call that needs no context.
int EnterStandInAnywhere(const char* name);
// The device of the calling thread's context.
StandInDevice& CurrentDevice();
int CurrentDeviceNumber();  // -1: there is no context
inline DeviceMemory& StandInMemory() { return CurrentDevice().memory; }
// A library keeps such a thing for each device: its handles belong to contexts, and devices are
// used side by side. Without a context: what no device has.
template <typename Kept>
class PerDevice {
 public:
  Kept& Here() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return kept_[CurrentDeviceNumber()];
  }
  void Clear() {
    const std::lock_guard<std::mutex> lock(mutex_);
    kept_.clear();
  }

 private:
  std::mutex mutex_;
  std::map<int, Kept> kept_;
};
// By how much the stand-in was told to change a call, as if its caller had made a mistake; 0: not.
int64_t BendOf(const char* call);
// Something was done wrong.
void NoteMisuse(const std::string& text);
bool HasStandInStream(CudaHandle stream);
// Puts work of a library on a stream of the current device. What it finds wrong when it is done is
// noted, and fails whoever waits. An error of the driver, where there is no such stream, or where
// nothing orders the work behind what it must follow.
CudaResult PutOnStream(CudaHandle stream, StreamWork work);
// Does what is on the stream, without the caller's knowing.
CudaResult AdvanceStream(CudaHandle stream);
// Says of everything that libraries keep until they are told to end that it is a leak.
struct StandInLeaks {
  std::function<void()> note, forget;
};
void RegisterLeaks(StandInLeaks leaks);

}  // namespace assay::gpu
