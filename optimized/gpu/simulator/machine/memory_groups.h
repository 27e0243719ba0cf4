// Splits the lanes of an access by the memory that they reach.
#pragma once

#include <bit>

#include "absl/strings/str_format.h"
#include "optimized/gpu/simulator/machine/memory_unit.h"

namespace assay::gpu {

template <class Body>
bool MemoryUnit::ForGroupsAt(const MemoryOp& op, Use use, const uint64_t* addresses, uint32_t lanes,
                             Body body) {
  Group group;
  group.addresses = addresses;
  uint32_t left = lanes;
  while (left != 0) {
    const int lane = std::countr_zero(left);
    const uint64_t address = group.addresses[lane];
    group.mask = left;
    if (!FindRegion(op, address, group.region)) {
      return Report(FindingKind::kOutOfBounds, Region{.name = "no allocation"}, lane, address,
                    absl::StrFormat("%s of %d bytes where nothing is",
                                    use == Use::kRead ? "a read" : "a write", op.bytes));
    }
    if (op.base == BaseKind::kUnknown) {
      // Only those lanes that are in this memory; the others come after them.
      const Region& region = group.region;
      for (uint32_t rest = left; rest != 0; rest &= rest - 1) {
        const int other = std::countr_zero(rest);
        const uint64_t bytes = region.lane_stride != 0 ? region.lane_stride : region.high;
        if (group.addresses[other] - region.address > bytes) {
          group.mask &= ~(uint32_t{1} << other);
        }
      }
    }
    if (!CheckGroup(op, use, group) || !body(group)) return false;
    left &= ~group.mask;
  }
  return true;
}

}  // namespace assay::gpu
