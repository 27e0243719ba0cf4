// Addresses to bytes: which memory, whether within it, and moving the values.
#include "optimized/gpu/simulator/machine/memory_unit.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "optimized/gpu/simulator/machine/memory_groups.h"

namespace assay::gpu {
namespace {

int LogOf(uint32_t bytes) { return std::countr_zero(bytes); }

// A run of ones without gaps.
bool IsRun(uint32_t mask) {
  const uint32_t shifted = mask >> std::countr_zero(mask);
  return (shifted & (shifted + 1)) == 0;
}

}  // namespace

bool MemoryUnit::Report(FindingKind kind, const Region& region, int lane, uint64_t address,
                        std::string detail) {
  warp_.Report(kind, lane, "");
  KernelFinding finding = *FindingOf(launch_.status);
  finding.detail = std::move(detail);
  finding.address = address;
  finding.allocation = region.name;
  finding.offset = static_cast<int64_t>(address - region.address);
  launch_.status = StatusOf(finding);
  return false;
}

bool MemoryUnit::FindGlobal(uint64_t address, Region& region) const {
  Allocation* found = launch_.memory.Find(address);
  if (found == nullptr) return false;
  region.data = found->data;
  region.address = found->address;
  region.low = 0;
  region.high = found->bytes;
  region.shadow = launch_.options.checks ? &found->shadow : nullptr;
  region.is_tracked = launch_.options.checks;
  region.is_global = true;
  region.name = found->name.c_str();
  return true;
}

// The memory that the pointer was made for; without one, that of the address.
bool MemoryUnit::FindRegion(const MemoryOp& op, uint64_t address, Region& region) const {
  const auto narrow = [&] {
    region.low = op.low;
    region.high = std::min(op.high, region.high);
    return true;
  };
  switch (op.base) {
    case BaseKind::kArgument:
      region = launch_.arguments[op.argument];
      return region.data != nullptr;
    case BaseKind::kShared:
      region = launch_.shared_region;
      return narrow();
    case BaseKind::kConstant:
      region = launch_.constant_region;
      return narrow();
    default:
      break;
  }
  if (op.base == BaseKind::kLocal || (address & kTagMask) == kLocalTag) {
    const uint64_t stride = launch_.code.local_bytes;
    const uint64_t begin = stride * kLanes * warp_.number();
    region.data = launch_.local.data() + begin;
    region.address = kLocalTag;
    region.low = op.base == BaseKind::kLocal ? op.low : 0;
    region.high = op.base == BaseKind::kLocal ? op.high : stride;
    region.lane_stride = stride;
    region.shadow = launch_.options.checks ? &launch_.local_shadow : nullptr;
    region.name = "local";
    return true;
  }
  switch (address & kTagMask) {
    case kSharedTag:
      region = launch_.shared_region;
      return true;
    case kConstantTag:
      region = launch_.constant_region;
      return true;
    case 0:
      return FindGlobal(address, region);
    default:
      return false;
  }
}

bool MemoryUnit::ReportOutside(const MemoryOp& op, Use use, const Group& group) {
  const Region& region = group.region;
  for (uint32_t rest = group.mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const uint64_t offset = group.Offset(lane);
    const bool fits = region.high - region.low >= op.bytes &&
                      offset - region.low <= region.high - region.low - op.bytes;
    if (fits) continue;
    return Report(FindingKind::kOutOfBounds, region, lane, group.addresses[lane],
                  absl::StrFormat("%s of %d bytes outside of bytes %d to %d",
                                  use == Use::kRead ? "a read" : "a write", op.bytes, region.low,
                                  region.high));
  }
  return true;
}

bool MemoryUnit::CheckGroup(const MemoryOp& op, Use use, Group& group) {
  const Region& region = group.region;
  const uint64_t room = region.high - region.low;
  if (room < op.bytes || region.high < region.low) return ReportOutside(op, use, group);
  const AddressSurvey survey = launch_.lanes.survey(
      group.addresses, group.mask, region.address + region.low, room - op.bytes, op.bytes);
  if (!survey.is_inside) return ReportOutside(op, use, group);
  if ((survey.bits & (op.alignment - 1)) != 0) {
    for (uint32_t rest = group.mask; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      if ((group.addresses[lane] & (op.alignment - 1)) == 0) continue;
      return Report(FindingKind::kMisaligned, region, lane, group.addresses[lane],
                    absl::StrFormat("an access that needs an alignment of %d bytes", op.alignment));
    }
  }
  if (region.is_constant && use != Use::kRead) {
    return Report(FindingKind::kReadOnlyWritten, region, std::countr_zero(group.mask),
                  group.addresses[std::countr_zero(group.mask)], "a write to constant memory");
  }
  group.is_consecutive = survey.is_consecutive && region.lane_stride == 0 && IsRun(group.mask);
  group.is_same = survey.is_same && region.lane_stride == 0;
  return true;
}

void MemoryUnit::LoadGroup(const MemoryOp& op, const Group& group) {
  const LaneTable& lanes = launch_.lanes;
  const int first = std::countr_zero(group.mask);
  const bool is_all = group.mask == ~uint32_t{0};
  for (const Piece& piece : op.pieces) {
    std::byte* to = warp_.At<std::byte>(piece.place);
    if (group.is_consecutive && piece.bytes == op.bytes) {
      std::memcpy(to + first * piece.bytes, group.Host(first),
                  piece.bytes * CountLanes(group.mask));
    } else if (group.is_consecutive && is_all) {
      lanes.collect[LogOf(piece.bytes)](to, group.Host(0) + piece.offset, op.bytes);
    } else {
      for (uint32_t rest = group.mask; rest != 0; rest &= rest - 1) {
        const int lane = std::countr_zero(rest);
        std::memcpy(to + lane * piece.bytes, group.Host(lane) + piece.offset, piece.bytes);
      }
    }
    if (piece.mask == ~uint64_t{0}) continue;
    for (uint32_t rest = group.mask; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      uint64_t value = 0;
      std::memcpy(&value, to + lane * piece.bytes, piece.bytes);
      value &= piece.mask;
      std::memcpy(to + lane * piece.bytes, &value, piece.bytes);
    }
  }
}

void MemoryUnit::StoreGroup(const MemoryOp& op, const Group& group) {
  const LaneTable& lanes = launch_.lanes;
  const int first = std::countr_zero(group.mask);
  const bool is_all = group.mask == ~uint32_t{0};
  for (const Piece& piece : op.pieces) {
    const std::byte* from = warp_.At<std::byte>(piece.place);
    if (group.is_consecutive && piece.bytes == op.bytes) {
      std::memcpy(group.Host(first), from + first * piece.bytes,
                  piece.bytes * CountLanes(group.mask));
    } else if (group.is_consecutive && is_all) {
      lanes.scatter[LogOf(piece.bytes)](group.Host(0) + piece.offset, from, op.bytes);
    } else {
      for (uint32_t rest = group.mask; rest != 0; rest &= rest - 1) {
        const int lane = std::countr_zero(rest);
        std::memcpy(group.Host(lane) + piece.offset, from + lane * piece.bytes, piece.bytes);
      }
    }
  }
}

bool MemoryUnit::Load(const MemoryOp& op) {
  return ForGroups(op, Use::kRead, [&](const Group& group) {
    if (!Watch(op, Use::kRead, group)) return false;
    LoadGroup(op, group);
    return true;
  });
}

bool MemoryUnit::Store(const MemoryOp& op) {
  const Use use = op.scope == AtomicScope::kNone ? Use::kWrite : Use::kAtomic;
  return ForGroups(op, use, [&](const Group& group) {
    if (launch_.open_copies != 0 && !CheckNotOnItsWay(op, group)) return false;
    if (!Watch(op, use, group)) return false;
    StoreGroup(op, group);
    return true;
  });
}

// ---- atomics ----

namespace {

template <class T>
T AsType(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

LaneOp LaneOpOf(AtomicKind kind) {
  switch (kind) {
    case AtomicKind::kAdd:
      return kAdd;
    case AtomicKind::kSub:
      return kSub;
    case AtomicKind::kAnd:
    case AtomicKind::kNand:
      return kAnd;
    case AtomicKind::kOr:
      return kOr;
    case AtomicKind::kXor:
      return kXor;
    case AtomicKind::kSMax:
      return kSMax;
    case AtomicKind::kSMin:
      return kSMin;
    case AtomicKind::kUMax:
      return kUMax;
    case AtomicKind::kUMin:
      return kUMin;
    case AtomicKind::kFAdd:
      return kFAdd;
    case AtomicKind::kFSub:
      return kFSub;
    case AtomicKind::kFMax:
      return kMaxNum;
    case AtomicKind::kFMin:
      return kMinNum;
    default:
      return kLaneOps;
  }
}

// One lane's operation by the loops of 32, so that both mean the same.
uint64_t ApplyOnce(LaneOp op, LaneType type, uint64_t a, uint64_t b) {
  alignas(64) std::array<uint64_t, kLanes> x = {}, y = {}, z = {};
  x[0] = a;
  y[0] = b;
  Lanes().ops[op][type](z.data(), x.data(), y.data(), nullptr);
  uint64_t result = 0;
  std::memcpy(&result, z.data(), BytesOf(type));
  return result;
}

}  // namespace

// Does the operation of one lane and gives what was there.
uint64_t MemoryUnit::OldValue(const AtomicOp& op, std::byte* at, int lane) {
  const int bytes = BytesOf(op.type);
  uint64_t old = 0, operand = 0, made = 0;
  std::memcpy(&old, at, bytes);
  std::memcpy(&operand, warp_.At<std::byte>(op.memory.pieces[0].place) + lane * bytes, bytes);
  switch (op.kind) {
    case AtomicKind::kExchange:
      made = operand;
      break;
    case AtomicKind::kCompareExchange: {
      uint64_t expected = 0;
      std::memcpy(&expected, warp_.At<std::byte>(op.expected) + lane * bytes, bytes);
      made = old == expected ? operand : old;
      break;
    }
    case AtomicKind::kIncrement:
      made = old >= operand ? 0 : old + 1;
      break;
    case AtomicKind::kDecrement:
      made = old == 0 || old > operand ? operand : old - 1;
      break;
    case AtomicKind::kNand:
      made = ~(old & operand);
      break;
    default:
      made = ApplyOnce(LaneOpOf(op.kind), op.type, old, operand);
      break;
  }
  std::memcpy(at, &made, bytes);
  return old;
}

bool MemoryUnit::Atomic(const AtomicOp& op) {
  ++launch_.counters.atomics;
  const int bytes = BytesOf(op.type);
  alignas(64) std::array<std::byte, 8 * kLanes> olds = {};
  std::array<uint8_t, kLanes> successes = {};
  const bool is_good = ForGroups(op.memory, Use::kAtomic, [&](const Group& group) {
    if (!Watch(op.memory, Use::kAtomic, group)) return false;
    // Which lane is first is open; the seed says.
    const bool is_backward = (launch_.options.seed & 1) != 0;
    for (int k = 0; k < kLanes; ++k) {
      const int lane = is_backward ? kLanes - 1 - k : k;
      if ((group.mask >> lane & 1) == 0) continue;
      const uint64_t old = OldValue(op, group.Host(lane), lane);
      std::memcpy(olds.data() + lane * bytes, &old, bytes);
      if (op.expected == kNoRegister) continue;
      successes[lane] =
          std::memcmp(&old, warp_.At<std::byte>(op.expected) + lane * bytes, bytes) == 0 ? 1 : 0;
    }
    return true;
  });
  if (!is_good) return false;
  warp_.Put(op.old, olds.data(), bytes, op.old_is_local);
  warp_.Put(op.success, successes.data(), 1, op.success_is_local);
  return true;
}

}  // namespace assay::gpu
