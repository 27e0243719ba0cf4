// Copies of many bytes, and copies that go on while the warp does.
#include <algorithm>
#include <bit>
#include <cstring>

#include "optimized/gpu/simulator/machine/memory_unit.h"

namespace assay::gpu {

// The access of one lane.
bool MemoryUnit::ReachOne(const MemoryOp& op, Use use, int lane, uint64_t address, Group& group) {
  group.own_addresses[lane] = address;
  group.addresses = group.own_addresses.data();
  group.mask = uint32_t{1} << lane;
  if (!FindRegion(op, address, group.region)) {
    return Report(FindingKind::kOutOfBounds, Region{.name = "no allocation"}, lane, address,
                  "bytes are moved where nothing is");
  }
  return CheckGroup(op, use, group) && Watch(op, use, group);
}

// A byte at a time, as an access of its own: rare, and thus checked like all others.
bool MemoryUnit::MoveBytesOfLane(const Op& op, int lane) {
  const uint64_t count = warp_.At<uint64_t>(op.c)[lane];
  MemoryOp write = launch_.code.memory[op.side], read = launch_.code.memory[op.side + 1];
  read.bytes = write.bytes = 1;
  read.alignment = write.alignment = 1;
  const uint64_t target = warp_.At<uint64_t>(op.a)[lane];
  for (uint64_t k = 0; k < count; ++k) {
    std::byte value;
    if (op.kind == OpKind::kFillBytes) {
      value = warp_.At<std::byte>(op.b)[lane];
    } else {
      Group source;
      const uint64_t from = warp_.At<uint64_t>(op.b)[lane];
      if (!ReachOne(read, Use::kRead, lane, from + k, source)) return false;
      value = *source.Host(lane);
    }
    Group place;
    if (!ReachOne(write, Use::kWrite, lane, target + k, place)) return false;
    *place.Host(lane) = value;
    if (launch_.instructions_left-- == 0) {
      launch_.status = absl::DeadlineExceededError("too many bytes are moved");
      return false;
    }
  }
  return true;
}

bool MemoryUnit::MoveBytes(const Op& op) {
  for (uint32_t rest = warp_.mask_; rest != 0; rest &= rest - 1) {
    if (!MoveBytesOfLane(op, std::countr_zero(rest))) return false;
  }
  return true;
}

// Until it arrives the target is as if nobody had written it, so that whoever reads it too soon is
// found.
bool MemoryUnit::StartCopy(const AsyncOp& op) {
  for (uint32_t rest = warp_.mask_; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    OpenCopy copy = {.to = &op.to, .lane = lane, .group = warp_.groups_[lane]};
    copy.address = warp_.At<uint64_t>(op.to.address)[lane];
    MemoryOp read = op.from;
    if (op.bytes != kNoRegister) {
      read.bytes = std::min(read.bytes, warp_.At<uint32_t>(op.bytes)[lane]);
    }
    if (read.bytes != 0) {
      Group source;
      if (!ReachOne(read, Use::kRead, lane, warp_.At<uint64_t>(op.from.address)[lane], source)) {
        return false;
      }
      std::memcpy(copy.bytes.data(), source.Host(lane), read.bytes);
    }
    Group target;
    if (!ReachOne(op.to, Use::kWrite, lane, copy.address, target)) return false;
    if (target.region.shadow != nullptr) {
      target.region.shadow->Forget(target.Offset(lane), op.to.bytes);
    }
    warp_.copies_.push_back(copy);
  }
  return true;
}

bool MemoryUnit::AwaitCopies(bool all, uint32_t open_groups) {
  std::vector<OpenCopy> left;
  for (const OpenCopy& copy : warp_.copies_) {
    const bool is_due = all || copy.group + open_groups < warp_.groups_[copy.lane];
    if (!is_due || (warp_.mask_ >> copy.lane & 1) == 0) {
      left.push_back(copy);
      continue;
    }
    Group target;
    if (!ReachOne(*copy.to, Use::kWrite, copy.lane, copy.address, target)) return false;
    std::memcpy(target.Host(copy.lane), copy.bytes.data(), copy.to->bytes);
  }
  warp_.copies_ = std::move(left);
  return true;
}

}  // namespace assay::gpu
