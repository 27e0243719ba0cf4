// Stamps of accesses: see shadow.h.
#pragma once

#include <cstdint>

namespace assay::gpu {

inline constexpr int kStampClockShift = 12;
inline constexpr uint32_t kMostClock = (uint32_t{1} << 20) - 2;
inline constexpr uint32_t kStampFlags = 3;
inline constexpr uint32_t kStampThread = 1023u << 2;
inline constexpr uint32_t kStampWarp = 0x3e0u << 2;

// Flags of a write's stamp.
inline constexpr uint32_t kPlainWrite = 0, kAtomicWrite = 1, kBlockAtomicWrite = 2;
// Flags of a stamp of reads: who else read since the last barrier.
inline constexpr uint32_t kOneReader = 0, kReadersOfWarp = 1, kReadersOfBlock = 2,
                          kReadersOfBlocks = 3;

// Stamps at or above each were made since then.
struct StampLimits {
  uint32_t launch = 0;   // the launch began
  uint32_t block = 0;    // this block began
  uint32_t barrier = 0;  // this block's last barrier
  uint32_t warp = 0;     // this warp was last synchronised
  uint32_t now = 0;      // the clock, without thread and flags
};

// Stamps of granules that consecutive lanes access: 1 << lane_shift of them per lane.
struct StampRange {
  uint32_t* writes = nullptr;
  uint32_t* reads = nullptr;
  int count = 0;
  int lane_shift = 0;
  uint32_t first_thread = 0;  // as in a stamp
  uint32_t flags = 0;         // of the write
};

}  // namespace assay::gpu
