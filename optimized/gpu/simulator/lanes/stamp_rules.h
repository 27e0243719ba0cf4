// The rules by which stamps tell whether accesses are ordered. Internal linkage: they are compiled
// for several instruction sets.
#pragma once

#include <cstdint>

#include "optimized/gpu/simulator/lanes/stamps.h"

namespace assay::gpu {
namespace {

// Truths are 0 and 1 in whole words here, and nothing is skipped: so granules are done side by
// side.
// Tells whether the write that left the stamp comes before what thread `own` does now, however
// threads run.
inline uint32_t IsOrdered(uint32_t stamp, uint32_t own, const StampLimits& limits) {
  const uint32_t different = stamp ^ own;
  const uint32_t in_block = stamp >= limits.block ? 1 : 0;
  const uint32_t is_own = (different & kStampThread) == 0 ? 1 : 0;
  const uint32_t is_warp = (different & kStampWarp) == 0 ? 1 : 0;
  const uint32_t is_synchronised = stamp < limits.warp ? 1 : 0;
  const uint32_t is_before = stamp < limits.barrier ? 1 : 0;
  const uint32_t is_old = stamp < limits.launch ? 1 : 0;
  return is_old | (in_block & (is_before | is_own | (is_warp & is_synchronised)));
}

// Says the same of the reads that left a stamp.
inline uint32_t ReadersOrdered(uint32_t stamp, uint32_t own, const StampLimits& limits) {
  const uint32_t different = stamp ^ own, flags = stamp & kStampFlags;
  const uint32_t is_own = (different & kStampThread) == 0 ? 1 : 0;
  const uint32_t is_alone = (flags == kOneReader ? 1 : 0) & is_own;
  const uint32_t is_warp =
      ((different & kStampWarp) == 0 ? 1 : 0) & (flags != kReadersOfBlock ? 1 : 0);
  const uint32_t is_synchronised = stamp < limits.warp ? 1 : 0;
  const uint32_t is_before = stamp < limits.barrier ? 1 : 0;
  const uint32_t in_block = (stamp >= limits.block ? 1 : 0) & (flags != kReadersOfBlocks ? 1 : 0);
  const uint32_t is_old = stamp < limits.launch ? 1 : 0;
  return is_old | (in_block & (is_before | (is_warp & (is_alone | is_synchronised))));
}

// The stamp of reads after one more read.
inline uint32_t RenewedRead(uint32_t stamp, uint32_t own, const StampLimits& limits) {
  const uint32_t different = stamp ^ own, flags = stamp & kStampFlags;
  uint32_t made = (different & kStampThread) == 0 ? flags : kReadersOfWarp;
  made = stamp < limits.warp ? 0 : made;
  made = flags == kReadersOfBlock ? kReadersOfBlock : made;
  made = (different & kStampWarp) != 0 ? kReadersOfBlock : made;
  made = stamp < limits.barrier ? 0 : made;
  made = stamp < limits.block ? kReadersOfBlocks : made;
  made = flags == kReadersOfBlocks ? kReadersOfBlocks : made;
  made = stamp < limits.launch ? 0 : made;
  return limits.now | own | made;
}

}  // namespace
}  // namespace assay::gpu
