// Loads, stores and atomics of a warp, with everything that is checked of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "optimized/gpu/simulator/machine/launch_state.h"
#include "optimized/gpu/simulator/machine/warp.h"

namespace assay::gpu {

class MemoryUnit {
 public:
  MemoryUnit(LaunchState& launch, Warp& warp) : launch_(launch), warp_(warp) {}

  // False: a finding, which is reported.
  bool Load(const MemoryOp& op);
  bool Store(const MemoryOp& op);
  bool Atomic(const AtomicOp& op);
  bool MoveBytes(const Op& op);
  // Asynchronous copies: a lane's bytes leave now and arrive when it waits for their group.
  bool StartCopy(const AsyncOp& op);
  bool AwaitCopies(bool all, uint32_t open_groups);
  bool UseMbarrier(const MbarrierOp& op);

 private:
  enum class Use : uint8_t { kRead, kWrite, kAtomic };

  // Lanes whose addresses lie in one region.
  struct Group {
    Region region;
    uint32_t mask = 0;
    bool is_consecutive = false, is_same = false;
    const uint64_t* addresses = nullptr;
    std::array<uint64_t, kLanes> own_addresses;  // where there is no register of them
    uint64_t Offset(int lane) const { return addresses[lane] - region.address; }
    std::byte* Host(int lane) const {
      return region.data + region.lane_stride * lane + Offset(lane);
    }
  };

  // Splits the lanes by region, checks bounds and alignment, and calls `body(group)` for each.
  template <class Body>
  bool ForGroups(const MemoryOp& op, Use use, Body body) {
    return ForGroupsAt(op, use, warp_.At<uint64_t>(op.address), warp_.mask_, body);
  }
  template <class Body>
  bool ForGroupsAt(const MemoryOp& op, Use use, const uint64_t* addresses, uint32_t lanes,
                   Body body);
  bool FindRegion(const MemoryOp& op, uint64_t address, Region& region) const;
  bool FindGlobal(uint64_t address, Region& region) const;
  bool CheckGroup(const MemoryOp& op, Use use, Group& group);
  bool ReportOutside(const MemoryOp& op, Use use, const Group& group);

  // Freshness and races.
  bool Watch(const MemoryOp& op, Use use, const Group& group);
  bool WatchFresh(const MemoryOp& op, const Group& group);
  bool WatchRaces(const MemoryOp& op, Use use, const Group& group);
  bool WatchTogether(const MemoryOp& op, Use use, const Group& group);
  bool WatchGranules(const MemoryOp& op, Use use, const Group& group, int lane);
  StampLimits LimitsOf(const Region& region) const;
  bool ReportRace(const Group& group, int lane, uint32_t stamp, const char* what);
  void MarkWritten(const MemoryOp& op, const Group& group);
  void Count(const MemoryOp& op, Use use, const Group& group);

  void LoadGroup(const MemoryOp& op, const Group& group);
  void StoreGroup(const MemoryOp& op, const Group& group);
  uint64_t OldValue(const AtomicOp& op, std::byte* at, int lane);
  bool ReachOne(const MemoryOp& op, Use use, int lane, uint64_t address, Group& group);
  bool MoveBytesOfLane(const Op& op, int lane);
  bool ReadSources(const AsyncOp& op, OpenCopy& copy);
  bool Deliver(const OpenCopy& copy, uint32_t lanes);
  // Bytes of shared memory become, or are no longer, the target of a copy.
  bool SetOnItsWay(const Group& group, uint32_t bytes, bool is_on_its_way);
  bool IsOnItsWay(const Region& region, uint64_t address) const;
  // A plain write must not meet a copy that is on its way.
  bool CheckNotOnItsWay(const MemoryOp& op, const Group& group);
  bool UseMbarrierOfLane(const MbarrierOp& op, int lane, uint64_t& result);
  bool Arrive(uint64_t address, int lane, uint32_t count, uint64_t& token);
  bool ArriveWithCopies(uint64_t address, int lane, bool is_extra);
  bool DeliverFor(uint64_t mbarrier);
  bool ReportMbarrier(FindingKind kind, int lane, uint64_t address, const char* detail);
  std::string Where(const Region& region) const;
  bool Report(FindingKind kind, const Region& region, int lane, uint64_t address,
              std::string detail);
  uint32_t ThreadStamp(int lane) const {
    return (warp_.number() * kLanes + static_cast<uint32_t>(lane)) << 2;
  }

  LaunchState& launch_;
  Warp& warp_;
};

}  // namespace assay::gpu
