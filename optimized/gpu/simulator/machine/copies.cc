// Copies of many bytes, and copies that go on while the warp does (PTX ISA 8.8, section
// 9.7.9.25).
#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "optimized/gpu/simulator/machine/memory_groups.h"
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

// ---- asynchronous copies ----

constexpr uint32_t kWord = 4;  // copies move whole words

bool MemoryUnit::SetOnItsWay(const Group& group, uint32_t bytes, bool is_on_its_way) {
  for (uint32_t rest = group.mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const uint64_t begin = group.Offset(lane);
    for (uint64_t word = begin / kWord; word < (begin + bytes) / kWord; ++word) {
      uint8_t& flag = launch_.on_its_way[word];
      if (is_on_its_way && flag != 0) {
        return Report(FindingKind::kAsyncCopy, group.region, lane, group.addresses[lane],
                      "a copy to where another one is on its way");
      }
      flag = is_on_its_way ? 1 : 0;
    }
  }
  return true;
}

bool MemoryUnit::IsOnItsWay(const Region& region, uint64_t address) const {
  if (launch_.open_copies == 0 || region.data != launch_.shared_region.data) return false;
  return launch_.on_its_way[(address - region.address) / kWord] != 0;
}

bool MemoryUnit::CheckNotOnItsWay(const MemoryOp& op, const Group& group) {
  if (group.region.data != launch_.shared_region.data) return true;
  for (uint32_t rest = group.mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const uint64_t address = group.addresses[lane];
    if (!IsOnItsWay(group.region, address) && !IsOnItsWay(group.region, address + op.bytes - 1)) {
      continue;
    }
    return Report(FindingKind::kAsyncCopy, group.region, lane, address,
                  "a write to where a copy is on its way");
  }
  return true;
}

// Takes the bytes that lanes copy. A lane may copy less than the instruction moves, or nothing:
// zeros follow.
bool MemoryUnit::ReadSources(const AsyncOp& op, OpenCopy& copy) {
  const uint32_t size = op.from.bytes;
  const uint64_t* addresses = warp_.At<uint64_t>(op.from.address);
  uint32_t whole = copy.mask, partial = 0;
  if (op.bytes != kNoRegister) {
    for (uint32_t rest = copy.mask; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      const uint32_t count = warp_.At<uint32_t>(op.bytes)[lane];
      if (count >= size) continue;
      whole &= ~(uint32_t{1} << lane);
      if (count != 0) partial |= uint32_t{1} << lane;
    }
  }
  for (; partial != 0; partial &= partial - 1) {
    const int lane = std::countr_zero(partial);
    MemoryOp less = op.from;
    less.bytes = warp_.At<uint32_t>(op.bytes)[lane];
    Group source;
    if (!ReachOne(less, Use::kRead, lane, addresses[lane], source)) return false;
    std::memcpy(&copy.bytes[size * lane], source.Host(lane), less.bytes);
  }
  return ForGroupsAt(op.from, Use::kRead, addresses, whole, [&](const Group& group) {
    if (!Watch(op.from, Use::kRead, group)) return false;
    if (group.is_consecutive) {
      const int first = std::countr_zero(group.mask);
      std::memcpy(&copy.bytes[size * first], group.Host(first), size * CountLanes(group.mask));
      return true;
    }
    for (uint32_t rest = group.mask; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      std::memcpy(&copy.bytes[size * lane], group.Host(lane), size);
    }
    return true;
  });
}

// Until it arrives the target is as if nobody had written it, so that whoever reads it too soon is
// found.
bool MemoryUnit::StartCopy(const AsyncOp& op) {
  OpenCopy copy = {.warp = &warp_,
                   .to = &op.to,
                   .number = launch_.copies_started++,
                   .mask = warp_.mask_,
                   .groups = warp_.groups_};
  std::memcpy(copy.addresses.data(), warp_.At<uint64_t>(op.to.address), sizeof copy.addresses);
  if (!ReadSources(op, copy)) return false;
  const bool is_good =
      ForGroupsAt(op.to, Use::kWrite, copy.addresses.data(), copy.mask, [&](const Group& group) {
        if (!Watch(op.to, Use::kWrite, group)) return false;
        if (!SetOnItsWay(group, op.to.bytes, true)) return false;
        if (group.region.shadow == nullptr) return true;
        Shadow& shadow = *group.region.shadow;
        if (group.is_consecutive) {
          shadow.Forget(group.Offset(std::countr_zero(group.mask)),
                        op.to.bytes * CountLanes(group.mask));
          return true;
        }
        for (uint32_t rest = group.mask; rest != 0; rest &= rest - 1) {
          shadow.Forget(group.Offset(std::countr_zero(rest)), op.to.bytes);
        }
        return true;
      });
  if (!is_good) return false;
  launch_.copies[warp_.number()].push_back(copy);
  ++launch_.open_copies;
  return true;
}

// The bytes of some lanes arrive.
bool MemoryUnit::Deliver(const OpenCopy& copy, uint32_t lanes) {
  const uint32_t size = copy.to->bytes;
  return ForGroupsAt(*copy.to, Use::kWrite, copy.addresses.data(), lanes, [&](const Group& group) {
    (void)SetOnItsWay(group, size, false);
    if (group.region.shadow != nullptr) {
      if (!WatchRaces(*copy.to, Use::kWrite, group)) return false;
      MarkWritten(*copy.to, group);
    }
    if (group.is_consecutive) {
      const int first = std::countr_zero(group.mask);
      std::memcpy(group.Host(first), &copy.bytes[size * first], size * CountLanes(group.mask));
      return true;
    }
    for (uint32_t rest = group.mask; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      std::memcpy(group.Host(lane), &copy.bytes[size * lane], size);
    }
    return true;
  });
}

bool MemoryUnit::AwaitCopies(bool all, uint32_t open_groups) {
  std::vector<OpenCopy>& copies = launch_.copies[warp_.number()];
  for (OpenCopy& copy : copies) {
    uint32_t due = copy.mask & warp_.mask_;
    for (uint32_t rest = all ? 0 : due; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      if (copy.groups[lane] + open_groups >= warp_.groups_[lane]) due &= ~(uint32_t{1} << lane);
    }
    if (due != 0 && !Deliver(copy, due)) return false;
    copy.mask &= ~due;
  }
  launch_.open_copies -= std::erase_if(copies, [](const OpenCopy& copy) { return copy.mask == 0; });
  return true;
}

void LaunchState::ForgetCopies() {
  late_arrivals.clear();
  mbarriers.clear();
  if (open_copies == 0) return;
  for (std::vector<OpenCopy>& of_warp : copies) of_warp.clear();
  std::fill(on_its_way.begin(), on_its_way.end(), uint8_t{0});
  open_copies = 0;
}

}  // namespace assay::gpu
