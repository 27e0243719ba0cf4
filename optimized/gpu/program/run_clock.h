// The simulator's clock says how long a run takes on a plain model of the device, the same on every
// machine. A launch takes the architecture's cost of one, and then as long as its bytes need in
// memory or its warp instructions to be begun, whichever is more, by as many multiprocessors as it
// has blocks for.
#pragma once

#include <algorithm>
#include <cstdint>

#include "optimized/gpu/simulator/counters.h"
#include "optimized/gpu/target/architecture.h"

namespace assay::gpu {

// Picoseconds.
struct RunClock {
  uint64_t total = 0;     // one launch or copy after the other
  uint64_t critical = 0;  // the longest way through streams and events
  // All bytes, and all instructions, by the device as a whole: streams share it.
  uint64_t memory = 0, instructions = 0;

  uint64_t path() const { return std::max({critical, memory, instructions}); }
  void Add(const RunClock& after, const RunClock& before) {
    total += after.total - before.total;
    critical += after.critical - before.critical;
    memory += after.memory - before.memory;
    instructions += after.instructions - before.instructions;
  }
};

// The launch of so many blocks that led from one state of the counters to the other: its time is
// returned and added to the clock's sums. Without the simulator's checks no bytes are counted.
uint64_t TimeOfLaunch(const Architecture& architecture, const Counters& before,
                      const Counters& after, uint64_t blocks, RunClock& clock);
// A copy within the device's memory; `with_host`: between it and the host's.
uint64_t TimeOfCopy(const Architecture& architecture, uint64_t bytes, bool with_host,
                    RunClock& clock);

}  // namespace assay::gpu
