// Addresses of 32 lanes, stamps of their accesses, shuffles, and moves between lanes and memory.
// Internal linkage, as of everything that lane_functions.h includes.
#pragma once

#include <cstdint>
#include <cstring>

#include "optimized/gpu/simulator/lanes/lane_numbers.h"
#include "optimized/gpu/simulator/lanes/lane_table.h"
#include "optimized/gpu/simulator/lanes/stamp_rules.h"

namespace assay::gpu {
namespace {

inline AddressSurvey Survey(const uint64_t* addresses, uint32_t mask, uint64_t base, uint64_t span,
                            uint64_t step) {
  const int first = __builtin_ctz(mask);
  const uint64_t start = addresses[first] - static_cast<uint64_t>(first) * step;
  const uint64_t same = addresses[first];
  uint64_t outside = 0, uneven = 0, different = 0, bits = 0;
  if (mask == ~uint32_t{0}) {
    for (uint64_t k = 0; k < kLanes; ++k) {
      const uint64_t address = addresses[k];
      outside |= address - base > span ? 1 : 0;
      uneven |= address ^ (start + k * step);
      different |= address ^ same;
      bits |= address;
    }
  } else {
    for (uint64_t k = 0; k < kLanes; ++k) {
      const uint64_t active = uint64_t{0} - (mask >> k & 1);
      const uint64_t address = addresses[k];
      outside |= (address - base > span ? 1 : 0) & active;
      uneven |= (address ^ (start + k * step)) & active;
      different |= (address ^ same) & active;
      bits |= address & active;
    }
  }
  return {outside == 0, uneven == 0, different == 0, bits};
}

// ---- stamps ----

template <int shift>
inline uint32_t OwnStamp(uint32_t first, int k) {
  return first + (static_cast<uint32_t>(k >> shift) << 2);
}

template <int shift>
bool ReadStampsBy(const StampRange& range, StampLimits limits) {
  uint32_t* __restrict reads = range.reads;
  const uint32_t* __restrict writes = range.writes;
  const uint32_t first = range.first_thread;
  const int count = range.count;
  uint32_t good = 1;
  for (int k = 0; k < count; ++k) good &= IsOrdered(writes[k], OwnStamp<shift>(first, k), limits);
  if (good == 0) return false;
  for (int k = 0; k < count; ++k) {
    reads[k] = RenewedRead(reads[k], OwnStamp<shift>(first, k), limits);
  }
  return true;
}

template <int shift>
bool WriteStampsBy(const StampRange& range, StampLimits limits) {
  uint32_t* __restrict writes = range.writes;
  const uint32_t* __restrict reads = range.reads;
  const uint32_t first = range.first_thread;
  const int count = range.count;
  uint32_t good = 1;
  for (int k = 0; k < count; ++k) {
    const uint32_t own = OwnStamp<shift>(first, k);
    good &= ReadersOrdered(reads[k], own, limits) & IsOrdered(writes[k], own, limits);
  }
  if (good == 0) return false;
  const uint32_t now = limits.now | range.flags;
  for (int k = 0; k < count; ++k) writes[k] = now | OwnStamp<shift>(first, k);
  return true;
}

inline bool ReadStamps(const StampRange& range, const StampLimits& limits) {
  switch (range.lane_shift) {
    case 0:
      return ReadStampsBy<0>(range, limits);
    case 1:
      return ReadStampsBy<1>(range, limits);
    case 2:
      return ReadStampsBy<2>(range, limits);
    case 3:
      return ReadStampsBy<3>(range, limits);
    case 4:
      return ReadStampsBy<4>(range, limits);
    default:
      return false;
  }
}

inline bool WriteStamps(const StampRange& range, const StampLimits& limits) {
  switch (range.lane_shift) {
    case 0:
      return WriteStampsBy<0>(range, limits);
    case 1:
      return WriteStampsBy<1>(range, limits);
    case 2:
      return WriteStampsBy<2>(range, limits);
    case 3:
      return WriteStampsBy<3>(range, limits);
    case 4:
      return WriteStampsBy<4>(range, limits);
    default:
      return false;
  }
}

template <int mode>
void ShuffleBy(const ShuffleLanes& lanes) {
  uint32_t* __restrict from = lanes.from;
  uint8_t* __restrict in_range = lanes.in_range;
  const uint32_t* offsets = lanes.offsets;
  const uint32_t* clamps = lanes.clamps;
  for (uint32_t k = 0; k < kLanes; ++k) {
    const uint32_t offset = offsets[k] & 31, segment = clamps[k] >> 8 & 31, clamp = clamps[k] & 31;
    const uint32_t most = (k & segment) | (clamp & ~segment);
    const uint32_t there = mode == 0   ? k - offset
                           : mode == 1 ? k + offset
                           : mode == 2 ? k ^ offset
                                       : (k & segment) | (offset & ~segment);
    const bool is_good =
        mode == 0 ? static_cast<int32_t>(there) >= static_cast<int32_t>(most) : there <= most;
    from[k] = is_good ? there : k;
    in_range[k] = is_good ? 1 : 0;
  }
  uint32_t* __restrict results = lanes.results;
  const uint32_t* values = lanes.values;
  for (int k = 0; k < kLanes; ++k) results[k] = values[from[k] & 31];
}

template <class T>
void Blend(void* to, const void* from, uint32_t mask) {
  T* __restrict x = static_cast<T*>(to);
  const T* y = static_cast<const T*>(from);
  ASSAY_LANES x[k] = (mask >> k & 1) != 0 ? y[k] : x[k];
}

template <class T, uint64_t step>
void CollectBy(T* __restrict to, const char* from) {
  ASSAY_LANES std::memcpy(to + k, from + k * step, sizeof(T));
}
template <class T>
void Collect(void* to, const void* from, uint64_t step) {
  T* __restrict x = static_cast<T*>(to);
  const char* y = static_cast<const char*>(from);
  if (step == 4 * sizeof(T)) return CollectBy<T, 4 * sizeof(T)>(x, y);
  if (step == 2 * sizeof(T)) return CollectBy<T, 2 * sizeof(T)>(x, y);
  ASSAY_LANES std::memcpy(x + k, y + k * step, sizeof(T));
}
template <class T>
void Scatter(void* to, const void* from, uint64_t step) {
  char* __restrict x = static_cast<char*>(to);
  const T* y = static_cast<const T*>(from);
  ASSAY_LANES std::memcpy(x + k * step, y + k, sizeof(T));
}

}  // namespace
}  // namespace assay::gpu
