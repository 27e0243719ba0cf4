// The state that all warps of a launch share.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "optimized/gpu/simulator/kernel_code.h"
#include "optimized/gpu/simulator/simulator.h"

namespace assay::gpu {

// A piece of memory as a pointer sees it.
struct Region {
  std::byte* data = nullptr;
  uint64_t address = 0;        // of data, on the device
  uint64_t low = 0, high = 0;  // bytes from there that may be touched: [low, high)
  Shadow* shadow = nullptr;    // null: nothing is checked
  bool is_tracked = false;     // races are looked for
  bool is_constant = false;
  bool is_global = false;
  uint64_t lane_stride = 0;  // of local memory: each lane has bytes of its own
  const char* name = "";
};

// The host may lack an instruction that counts ones, and most often all lanes run.
inline int CountLanes(uint32_t mask) { return mask == ~uint32_t{0} ? kLanes : std::popcount(mask); }

// Memory whose start is as aligned as the widest registers.
class AlignedBytes {
 public:
  void Resize(size_t bytes) {
    storage_.assign(bytes + 64, std::byte{0});
    data_ = storage_.data() + (64 - reinterpret_cast<uintptr_t>(storage_.data()) % 64) % 64;
    size_ = bytes;
  }
  std::byte* data() { return data_; }
  size_t size() const { return size_; }

 private:
  std::vector<std::byte> storage_;
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

class Warp;

// Bytes of some lanes of a warp that have left global memory and not arrived in shared memory.
struct OpenCopy {
  Warp* warp = nullptr;
  const MemoryOp* to = nullptr;
  uint64_t number = 0;  // of all copies of the launch
  uint32_t mask = 0;
  std::array<uint32_t, kLanes> groups = {};       // of each lane
  std::array<uint64_t, kLanes> addresses = {};    // where they go
  std::array<std::byte, 16 * kLanes> bytes = {};  // so many of each lane as the instruction moves
};

// An object in shared memory at which threads arrive (PTX ISA 8.8, section 9.7.13.15).
struct Mbarrier {
  uint32_t expected = 0, pending = 0;  // arrivals of each phase; those that are missing
  uint64_t phase = 0;                  // that is not complete
};
// An arrival that happens once the earlier copies of a lane have.
struct LateArrival {
  uint64_t mbarrier = 0;  // its address
  Warp* warp = nullptr;
  int lane = 0;
  uint64_t copies = 0;  // those with lower numbers
};

struct LaunchState {
  LaunchState(const KernelCode& code, const SimulatorOptions& options, const LaunchShape& shape,
              DeviceMemory& memory, Counters& counters)
      : code(code),
        options(options),
        shape(shape),
        memory(memory),
        counters(counters),
        instructions_left(options.max_instructions) {}

  const KernelCode& code;
  const LaneTable& lanes = Lanes();
  const SimulatorOptions& options;
  const LaunchShape& shape;
  DeviceMemory& memory;
  Counters& counters;
  AlignedBytes uniform, registers, local, shared;
  Shadow local_shadow, shared_shadow;
  std::vector<Region> arguments;
  Region shared_region, constant_region;
  uint32_t threads = 0, warps = 0;
  std::array<uint32_t, 3> block = {};
  StampLimits limits;  // `warp` is each warp's own
  // Asynchronous copies: by warp; all that were started; and which words of shared memory are on
  // their way.
  std::vector<std::vector<OpenCopy>> copies;
  uint64_t copies_started = 0, open_copies = 0;
  std::vector<uint8_t> on_its_way;
  std::map<uint64_t, Mbarrier> mbarriers;  // by address
  std::vector<LateArrival> late_arrivals;
  uint64_t arrivals = 0;  // at mbarriers: something goes on
  uint64_t instructions_left;
  absl::Status status;

  // At the start of a block.
  void ForgetCopies();
  // The clock goes on by one.
  void Tick();
  std::array<uint32_t, 3> ThreadAt(uint32_t number) const {
    return {number % shape.block[0], number / shape.block[0] % shape.block[1],
            number / shape.block[0] / shape.block[1]};
  }
};

}  // namespace assay::gpu
