// Numbers that a launch leaves: instructions, and how it used memory.
#pragma once

#include <array>
#include <cstdint>

namespace assay::gpu {

struct Counters {
  uint64_t launches = 0;
  uint64_t warp_instructions = 0;
  uint64_t branches = 0;
  // Branches after which lanes of one warp go different ways.
  uint64_t divergent_branches = 0;
  uint64_t barriers = 0;
  // The rest is counted only with checks. Global memory: instructions of a warp by the bytes that a
  // thread moves (1, 2, 4, 8, 16: by binary logarithm), the bytes, and sectors of 32 bytes touched
  // against the fewest that could hold those bytes.
  std::array<uint64_t, 5> global_loads = {};
  std::array<uint64_t, 5> global_stores = {};
  uint64_t global_bytes = 0;
  uint64_t global_sectors = 0;
  uint64_t least_global_sectors = 0;
  // Shared memory: instructions of a warp, and rounds more than the one (or the bytes / 128) that
  // each needs at least, since 32 banks of 4 bytes serve one word each per round.
  uint64_t shared_accesses = 0;
  uint64_t bank_conflicts = 0;
  uint64_t atomics = 0;
};

}  // namespace assay::gpu
