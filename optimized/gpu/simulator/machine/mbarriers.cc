// Barriers that are objects in shared memory (PTX ISA 8.8, section 9.7.13.15). A phase is complete
// when as many have arrived as it expects; what they did before is then ordered before what follows
// for whoever asked, and for all others, too: races can be missed there, and none is made up.
#include <array>
#include <bit>
#include <vector>

#include "optimized/gpu/simulator/machine/memory_groups.h"
#include "optimized/gpu/simulator/machine/memory_unit.h"

namespace assay::gpu {

bool MemoryUnit::ReportMbarrier(FindingKind kind, int lane, uint64_t address, const char* detail) {
  return Report(kind, launch_.shared_region, lane, address, detail);
}

bool MemoryUnit::Arrive(uint64_t address, int lane, uint32_t count, uint64_t& token) {
  Mbarrier& barrier = launch_.mbarriers[address];
  token = barrier.phase;
  if (count > barrier.pending) {
    return ReportMbarrier(FindingKind::kWrongPhase, lane, address,
                          "more arrive at an mbarrier than its phase expects");
  }
  barrier.pending -= count;
  ++launch_.arrivals;
  if (barrier.pending > 0) return true;
  ++barrier.phase;
  barrier.pending = barrier.expected;
  launch_.Tick();
  launch_.limits.barrier = launch_.limits.now;
  return true;
}

// A lane without open copies arrives at once.
bool MemoryUnit::ArriveWithCopies(uint64_t address, int lane, bool is_extra) {
  if (is_extra) ++launch_.mbarriers[address].pending;
  for (const OpenCopy& copy : launch_.copies[warp_.number()]) {
    if ((copy.mask >> lane & 1) == 0) continue;
    launch_.late_arrivals.push_back({address, &warp_, lane, launch_.copies_started});
    return true;
  }
  uint64_t token = 0;
  return Arrive(address, lane, 1, token);
}

// Copies may take until somebody asks for them.
bool MemoryUnit::DeliverFor(uint64_t mbarrier) {
  std::vector<LateArrival> due, later;
  for (const LateArrival& each : launch_.late_arrivals) {
    (each.mbarrier == mbarrier ? due : later).push_back(each);
  }
  launch_.late_arrivals = std::move(later);
  for (const LateArrival& each : due) {
    MemoryUnit memory(launch_, *each.warp);
    std::vector<OpenCopy>& copies = launch_.copies[each.warp->number()];
    const uint32_t lane = uint32_t{1} << each.lane;
    for (OpenCopy& copy : copies) {
      if (copy.number >= each.copies || (copy.mask & lane) == 0) continue;
      if (!memory.Deliver(copy, lane)) return false;
      copy.mask &= ~lane;
    }
    launch_.open_copies -=
        std::erase_if(copies, [](const OpenCopy& copy) { return copy.mask == 0; });
    uint64_t token = 0;
    if (!memory.Arrive(mbarrier, each.lane, 1, token)) return false;
  }
  return true;
}

bool MemoryUnit::UseMbarrierOfLane(const MbarrierOp& op, int lane, uint64_t& result) {
  const uint64_t address = warp_.At<uint64_t>(op.at.address)[lane];
  Group group;
  const bool is_plain = op.use == MbarrierUse::kInit || op.use == MbarrierUse::kInvalidate;
  if (!ReachOne(op.at, is_plain ? Use::kWrite : Use::kAtomic, lane, address, group)) return false;
  const auto value = [&] {
    return op.use == MbarrierUse::kTest ? warp_.At<uint64_t>(op.value)[lane]
                                        : uint64_t{warp_.At<uint32_t>(op.value)[lane]};
  };
  if (op.use == MbarrierUse::kInit) {
    const auto count = static_cast<uint32_t>(value());
    if (count == 0) {
      return ReportMbarrier(FindingKind::kUndefined, lane, address,
                            "an mbarrier at which nobody arrives");
    }
    launch_.mbarriers[address] = {count, count, 0};
    return true;
  }
  const auto found = launch_.mbarriers.find(address);
  if (found == launch_.mbarriers.end()) {
    return ReportMbarrier(FindingKind::kUninitialised, lane, address,
                          "an mbarrier that nobody initialised");
  }
  Mbarrier& barrier = found->second;
  switch (op.use) {
    case MbarrierUse::kInvalidate:
      launch_.mbarriers.erase(found);
      return true;
    case MbarrierUse::kArriveAndDrop:
      --barrier.expected;
      [[fallthrough]];
    case MbarrierUse::kArrive: {
      const uint32_t count = op.value == kNoRegister ? 1 : static_cast<uint32_t>(value());
      if (!op.may_complete && count >= barrier.pending) {
        return ReportMbarrier(FindingKind::kWrongPhase, lane, address,
                              "an arrival completes a phase, which it rules out");
      }
      return Arrive(address, lane, count, result);
    }
    case MbarrierUse::kTest: {
      if (!DeliverFor(address)) return false;
      const uint64_t phase = value();
      if (phase != barrier.phase && phase + 1 != barrier.phase) {
        return ReportMbarrier(FindingKind::kWrongPhase, lane, address,
                              "a phase is asked for that is neither the present one nor the last");
      }
      result = phase != barrier.phase ? 1 : 0;
      return true;
    }
    case MbarrierUse::kTestParity:
      if (!DeliverFor(address)) return false;
      result = (barrier.phase & 1) != (value() & 1) ? 1 : 0;
      return true;
    default:
      return ArriveWithCopies(address, lane, op.use == MbarrierUse::kCopiesArrive);
  }
}

bool MemoryUnit::UseMbarrier(const MbarrierOp& op) {
  const bool is_test = op.use == MbarrierUse::kTest || op.use == MbarrierUse::kTestParity;
  alignas(64) std::array<uint64_t, kLanes> tokens = {};
  alignas(64) std::array<uint8_t, kLanes> truths = {};
  bool all_done = true;
  for (uint32_t rest = warp_.mask_; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (!UseMbarrierOfLane(op, lane, tokens[lane])) return false;
    truths[lane] = tokens[lane] != 0 ? 1 : 0;
    all_done = all_done && truths[lane] != 0;
  }
  if (is_test) {
    warp_.Put(op.result, truths.data(), 1, op.result_is_local);
    if (!all_done) warp_.state_ = WarpState::kWaiting;
  } else {
    warp_.Put(op.result, tokens.data(), 8, op.result_is_local);
  }
  return true;
}

}  // namespace assay::gpu
