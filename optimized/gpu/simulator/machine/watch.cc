// Accesses that are within bounds are looked at for bytes that nobody wrote and for races, and are
// counted.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "absl/strings/str_format.h"
#include "optimized/gpu/simulator/lanes/stamp_rules.h"
#include "optimized/gpu/simulator/machine/memory_unit.h"

namespace assay::gpu {

// Bytes that are read must have been written. Bits of local memory are those of lane 0 first.
bool MemoryUnit::WatchFresh(const MemoryOp& op, const Group& group) {
  const Region& region = group.region;
  const Shadow& shadow = *region.shadow;
  const uint64_t own = region.lane_stride * kLanes * warp_.number();
  const int first = std::countr_zero(group.mask);
  if (group.is_consecutive) {
    const uint64_t begin = group.Offset(first), count = op.bytes * CountLanes(group.mask);
    if (shadow.FirstFresh(begin, count) == begin + count) return true;
  } else if (group.is_same) {
    if (shadow.IsWritten(group.Offset(first), op.bytes)) return true;
  }
  for (uint32_t rest = group.mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const uint64_t begin = own + region.lane_stride * lane + group.Offset(lane);
    const uint64_t fresh = shadow.FirstFresh(begin, op.bytes);
    if (fresh == begin + op.bytes) continue;
    const uint64_t address = group.addresses[lane] + (fresh - begin);
    if (IsOnItsWay(region, address)) {
      return Report(FindingKind::kAsyncCopy, region, lane, address,
                    "a byte is read whose copy was not waited for");
    }
    return Report(FindingKind::kUninitialised, region, lane, address,
                  "a byte is read that nobody wrote");
  }
  return true;
}

void MemoryUnit::MarkWritten(const MemoryOp& op, const Group& group) {
  const Region& region = group.region;
  Shadow& shadow = *region.shadow;
  const int first = std::countr_zero(group.mask);
  if (group.is_consecutive) {
    shadow.Mark(group.Offset(first), op.bytes * CountLanes(group.mask));
    return;
  }
  const uint64_t own = region.lane_stride * kLanes * warp_.number();
  for (uint32_t rest = group.mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    shadow.Mark(own + region.lane_stride * lane + group.Offset(lane), op.bytes);
  }
}

// ---- races ----

// Shared memory is new for each block.
StampLimits MemoryUnit::LimitsOf(const Region& region) const {
  StampLimits limits = launch_.limits;
  if (!region.is_global) limits.launch = limits.block;
  limits.warp = warp_.warp_stamp_;
  return limits;
}

bool MemoryUnit::ReportRace(const Group& group, int lane, uint32_t stamp, const char* what) {
  const uint32_t own = ThreadStamp(lane);
  const bool other_block = stamp < launch_.limits.block;
  const FindingKind kind = other_block ? FindingKind::kRaceBetweenBlocks
                           : (stamp & kStampWarp) == (own & kStampWarp)
                               ? FindingKind::kRaceInWarp
                               : FindingKind::kRaceBetweenWarps;
  const auto thread = launch_.ThreadAt((stamp & kStampThread) >> 2);
  return Report(
      kind, group.region, lane, group.addresses[lane],
      absl::StrFormat("%s by thread (%d,%d,%d) of %s, and nothing orders the two", what, thread[0],
                      thread[1], thread[2], other_block ? "another block" : "this block"));
}

bool MemoryUnit::WatchGranules(const MemoryOp& op, Use use, const Group& group, int lane) {
  Shadow& shadow = *group.region.shadow;
  const StampLimits limits = LimitsOf(group.region);
  const int shift = shadow.granule_shift();
  const uint32_t own = ThreadStamp(lane);
  const uint64_t begin = group.Offset(lane) >> shift;
  const uint64_t end = (group.Offset(lane) + op.bytes - 1) >> shift;
  const bool is_atomic = use == Use::kAtomic || op.scope != AtomicScope::kNone;
  for (uint64_t k = begin; k <= end; ++k) {
    uint32_t& write = shadow.writes()[k];
    uint32_t& read = shadow.reads()[k];
    if (IsOrdered(write, own, limits) == 0) {
      const uint32_t flags = write & kStampFlags;
      const bool other_block = write < limits.block;
      if (!is_atomic || flags == kPlainWrite) {
        return ReportRace(group, lane, write,
                          use == Use::kRead ? "a read after a write" : "a write after a write");
      }
      if (other_block && (flags == kBlockAtomicWrite || op.scope == AtomicScope::kBlock)) {
        return Report(FindingKind::kAtomicScope, group.region, lane, group.addresses[lane],
                      "an atomic of block scope meets one of another block");
      }
    }
    if (use == Use::kRead) {
      if (!is_atomic) read = RenewedRead(read, own, limits);
      continue;
    }
    if (ReadersOrdered(read, own, limits) == 0) {
      return ReportRace(group, lane, (read & kStampFlags) == kReadersOfBlocks ? 0 : read,
                        "a write after a read");
    }
    write = limits.now | own |
            (!is_atomic                        ? kPlainWrite
             : op.scope == AtomicScope::kBlock ? kBlockAtomicWrite
                                               : kAtomicWrite);
  }
  return true;
}

bool MemoryUnit::WatchRaces(const MemoryOp& op, Use use, const Group& group) {
  Shadow& shadow = *group.region.shadow;
  const int first = std::countr_zero(group.mask);
  // Four bytes that do not begin at a granule share it with others, in whichever lane they do.
  uint64_t offsets = 0;
  if (op.alignment % 4 != 0) {
    for (uint32_t rest = group.mask; rest != 0; rest &= rest - 1)
      offsets |= group.Offset(std::countr_zero(rest));
  }
  shadow.PrepareStamps(offsets, op.bytes);
  if (group.is_same && use == Use::kRead) {
    // A second lane says all that the others would.
    const uint32_t rest = group.mask & (group.mask - 1);
    if (!WatchGranules(op, use, group, first)) return false;
    return rest == 0 || WatchGranules(op, use, group, std::countr_zero(rest));
  }
  if (group.is_same && use == Use::kWrite) {
    // All lanes write the same place at once. That is a race unless they write the same.
    const uint32_t rest = group.mask & (group.mask - 1);
    for (uint32_t others = rest; others != 0; others &= others - 1) {
      const int lane = std::countr_zero(others);
      for (const Piece& piece : op.pieces) {
        const std::byte* values = warp_.At<std::byte>(piece.place);
        if (std::memcmp(values + lane * piece.bytes, values + first * piece.bytes, piece.bytes) ==
            0) {
          continue;
        }
        return ReportRace(group, lane, launch_.limits.now | ThreadStamp(first),
                          "another value is written at once");
      }
    }
    return WatchGranules(op, use, group, first);
  }
  if (group.is_consecutive && op.scope == AtomicScope::kNone && WatchTogether(op, use, group)) {
    return true;
  }
  for (uint32_t rest = group.mask; rest != 0; rest &= rest - 1) {
    if (!WatchGranules(op, use, group, std::countr_zero(rest))) return false;
  }
  return true;
}

// All granules of lanes side by side at once. False: something is to be looked at more closely.
bool MemoryUnit::WatchTogether(const MemoryOp& op, Use use, const Group& group) {
  Shadow& shadow = *group.region.shadow;
  const int shift = shadow.granule_shift(), first = std::countr_zero(group.mask);
  const uint32_t each = op.bytes >> shift;
  const uint64_t begin = group.Offset(first);
  if (!std::has_single_bit(each) || (begin & ((uint64_t{1} << shift) - 1)) != 0) return false;
  StampRange range = {.writes = shadow.writes() + (begin >> shift),
                      .reads = shadow.reads() + (begin >> shift),
                      .count = static_cast<int>(each) * CountLanes(group.mask),
                      .lane_shift = std::countr_zero(each),
                      .first_thread = ThreadStamp(first),
                      .flags = kPlainWrite};
  const StampFunction function =
      use == Use::kRead ? launch_.lanes.read_stamps : launch_.lanes.write_stamps;
  return function(range, LimitsOf(group.region));
}

bool MemoryUnit::Watch(const MemoryOp& op, Use use, const Group& group) {
  const Region& region = group.region;
  if (region.shadow == nullptr) return true;
  if (op.reads && !WatchFresh(op, group)) return false;
  if (region.is_tracked && !WatchRaces(op, use, group)) return false;
  if (use != Use::kRead) MarkWritten(op, group);
  Count(op, use, group);
  return true;
}

// ---- counters ----

void MemoryUnit::Count(const MemoryOp& op, Use use, const Group& group) {
  const Region& region = group.region;
  Counters& counters = launch_.counters;
  const uint32_t lanes = CountLanes(group.mask);
  if (!region.is_global) {
    if (region.lane_stride != 0 || region.is_constant) return;
    ++counters.shared_accesses;
    if (group.is_consecutive || group.is_same) return;
    // Words of one bank other than the same word are served one after the other.
    std::array<uint64_t, kLanes> last;
    std::array<uint8_t, kLanes> rounds = {};
    last.fill(~uint64_t{0});
    for (uint32_t rest = group.mask; rest != 0; rest &= rest - 1) {
      const uint64_t word = group.Offset(std::countr_zero(rest)) / 4;
      if (last[word % 32] == word) continue;
      last[word % 32] = word;
      ++rounds[word % 32];
    }
    counters.bank_conflicts += *std::max_element(rounds.begin(), rounds.end()) - 1;
    return;
  }
  const int width = std::min<int>(std::bit_width(std::min(op.bytes, op.alignment)) - 1, 4);
  ++(use == Use::kRead ? counters.global_loads : counters.global_stores)[width];
  const uint64_t bytes = group.is_same ? op.bytes : uint64_t{op.bytes} * lanes;
  counters.global_bytes += bytes;
  counters.least_global_sectors += (bytes + 31) / 32;
  if (group.is_consecutive || group.is_same) {
    const uint64_t begin = group.addresses[std::countr_zero(group.mask)];
    counters.global_sectors += (begin + bytes - 1) / 32 - begin / 32 + 1;
    return;
  }
  std::array<uint64_t, kLanes> sectors;
  int count = 0;
  for (uint32_t rest = group.mask; rest != 0; rest &= rest - 1) {
    const uint64_t sector = group.addresses[std::countr_zero(rest)] / 32;
    if (count > 0 && sectors[count - 1] == sector) continue;
    sectors[count++] = sector;
  }
  std::sort(sectors.begin(), sectors.begin() + count);
  counters.global_sectors +=
      std::unique(sectors.begin(), sectors.begin() + count) - sectors.begin();
}

}  // namespace assay::gpu
