// The way a warp runs.
#include "optimized/gpu/simulator/machine/warp.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "optimized/gpu/simulator/machine/memory_unit.h"

namespace assay::gpu {

void LaunchState::Tick() {
  uint32_t& clock = memory.clock();
  if (++clock >= kMostClock) {
    // Rare. What came before is forgotten: a race with it is missed.
    memory.ForgetStamps();
    shared_shadow.ForgetStamps();
    clock = 2;
    limits.launch = limits.block = limits.barrier = clock << kStampClockShift;
  }
  limits.now = clock << kStampClockShift;
}

Warp::Warp(LaunchState& launch, uint32_t number)
    : launch_(launch), code_(launch.code), number_(number) {
  const uint32_t threads = launch.threads - number * kLanes;
  existing_ = threads >= kLanes ? ~uint32_t{0} : (uint32_t{1} << threads) - 1;
  files_[0] = launch.registers.data() + static_cast<size_t>(number) * code_.register_bytes;
  files_[1] = launch.uniform.data();
  SetThreads();
}

void Warp::SetThreads() {
  const ThreadRegisters& registers = code_.threads;
  const auto set = [&](Register place, auto value_of) {
    if (place == kNoRegister) return;
    for (uint32_t lane = 0; lane < kLanes; ++lane) At<uint32_t>(place)[lane] = value_of(lane);
  };
  set(registers.lane, [](uint32_t lane) { return lane; });
  set(registers.warp, [&](uint32_t) { return number_; });
  set(registers.lane_masks[0], [](uint32_t lane) { return uint32_t{1} << lane; });
  set(registers.lane_masks[1], [](uint32_t lane) { return ~uint32_t{0} >> (31 - lane); });
  set(registers.lane_masks[2], [](uint32_t lane) { return (uint32_t{1} << lane) - 1; });
  set(registers.lane_masks[3], [](uint32_t lane) { return ~uint32_t{0} << lane; });
  set(registers.lane_masks[4], [](uint32_t lane) { return ~(~uint32_t{0} >> (31 - lane)); });
  std::array<std::array<uint32_t, kLanes>, 3> threads;
  std::array<uint32_t, 3> thread = launch_.ThreadAt(number_ * kLanes);
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    for (int d = 0; d < 3; ++d) threads[d][lane] = thread[d];
    for (int d = 0; d < 3; ++d) {
      if (++thread[d] < launch_.shape.block[d]) break;
      thread[d] = 0;
    }
  }
  for (int d = 0; d < 3; ++d) {
    set(registers.thread[d], [&](uint32_t lane) { return threads[d][lane]; });
  }
}

void Warp::Start() {
  live_ = mask_ = existing_;
  at_ = first_of_block_ = 0;
  others_.clear();
  arrivals_.clear();
  groups_.fill(0);
  state_ = WarpState::kReady;
  warp_stamp_ = launch_.limits.now;
}

void Warp::Report(FindingKind kind, int lane, std::string detail) {
  KernelFinding finding;
  finding.kind = kind;
  finding.kernel = code_.name;
  const size_t at = at_ == 0 ? 0 : at_ - 1;
  finding.instruction = code_.sources[code_.ops[at].source];
  finding.line = code_.lines[code_.ops[at].source];
  finding.instruction.erase(0, finding.instruction.find_first_not_of(' '));
  finding.block = launch_.block;
  finding.thread = launch_.ThreadAt(number_ * kLanes + lane);
  finding.seed = launch_.options.seed;
  finding.detail = std::move(detail);
  launch_.status = StatusOf(finding);
  state_ = WarpState::kFailed;
}

std::vector<std::pair<uint32_t, uint32_t>> Warp::TakeArrivals() {
  return std::exchange(arrivals_, {});
}

void Warp::Blend(Register to, Register from, uint32_t bytes) {
  launch_.lanes.blend[std::countr_zero(bytes)](At<std::byte>(to), At<std::byte>(from), mask_);
}

[[gnu::always_inline]] inline void Warp::RunLanes(const Op& op) {
  const void* a = At<std::byte>(op.a);
  // Addresses of operands that are absent are not used.
  const void* b = files_[op.b & 1] + (op.b & ~1u);
  const void* c = files_[op.c & 1] + (op.c & ~1u);
  if (op.is_local || mask_ == existing_) {
    op.function(At<std::byte>(op.result), a, b, c);
    return;
  }
  op.function(At<std::byte>(code_.scratch), a, b, c);
  Blend(op.result, code_.scratch, op.result_bytes);
}

// 32 truths as bits.
uint32_t Warp::Truths(Register place) {
  const uint8_t* bytes = At<uint8_t>(place);
  uint32_t bits = 0;
  for (int k = 0; k < 4; ++k) {
    uint64_t word;
    std::memcpy(&word, bytes + 8 * k, 8);
    bits |= static_cast<uint32_t>((word * 0x0102040810204080u) >> 56) << (8 * k);
  }
  return bits;
}

bool Warp::Require(const Op& op) {
  const auto requirement = static_cast<Requirement>(op.side);
  const bool is_overflow = requirement != Requirement::kTrue;
  uint32_t broken = 0;
  if (is_overflow) {
    op.function(At<std::byte>(code_.scratch), At<std::byte>(op.b), At<std::byte>(op.c), nullptr);
    broken = mask_ & Truths(code_.scratch);
  } else {
    broken = mask_ & ~Truths(op.a);
  }
  if (broken == 0) return true;
  Report(FindingKind::kUndefined, std::countr_zero(broken),
         requirement == Requirement::kIndexFits
             ? "an index leaves its 32 bits on the way to an address"
         : is_overflow ? "a number that does not fit, which the instruction rules out"
                       : "a division by zero, or an assumption that does not hold");
  return false;
}

void Warp::Put(Register to, const void* values, uint32_t bytes, bool is_local) {
  if (to == kNoRegister) return;
  if (is_local || mask_ == existing_) {
    std::memcpy(At<std::byte>(to), values, bytes * kLanes);
    return;
  }
  launch_.lanes.blend[std::countr_zero(bytes)](At<std::byte>(to), values, mask_);
}

// A lane's next group are the copies that it has started since the last one.
void Warp::CommitCopies() {
  for (uint32_t rest = mask_; rest != 0; rest &= rest - 1) ++groups_[std::countr_zero(rest)];
}

// ---- control ----

// The values that the phis of the block at the edge's end take, in the lanes that go there.
void Warp::Follow(uint32_t edge, uint32_t mask) {
  const Edge& way = code_.edges[edge];
  for (uint32_t k = 0; k < way.copies; ++k) {
    const EdgeCopy& copy = code_.copies[way.first_copy + k];
    if (mask == existing_) {
      std::memcpy(At<std::byte>(copy.to), At<std::byte>(copy.from), copy.bytes * kLanes);
    } else {
      launch_.lanes.blend[std::countr_zero(copy.bytes)](At<std::byte>(copy.to),
                                                        At<std::byte>(copy.from), mask);
    }
  }
  // Most often all lanes go the same way.
  if (others_.empty() && mask == mask_) {
    at_ = first_of_block_ = code_.blocks[way.block];
    return;
  }
  auto place = others_.begin();
  while (place != others_.end() && place->block > way.block) ++place;
  if (place != others_.end() && place->block == way.block) {
    place->mask |= mask;
  } else {
    others_.insert(place, {way.block, mask});
  }
}

// Goes on with the lanes that wait at the first block in order.
void Warp::Next() {
  if (others_.empty()) {
    state_ = WarpState::kDone;
    return;
  }
  mask_ = others_.back().mask;
  at_ = first_of_block_ = code_.blocks[others_.back().block];
  others_.pop_back();
}

void Warp::Take(uint32_t edge) {
  const bool is_alone = others_.empty();
  Follow(edge, mask_);
  if (!is_alone) Next();
}

void Warp::Branch(const Op& op) {
  const uint32_t yes = Truths(op.a) & mask_, no = mask_ & ~yes;
  ++launch_.counters.branches;
  if (no == 0) return Take(op.side);
  if (yes == 0) return Take(op.side + 1);
  ++launch_.counters.divergent_branches;
  Follow(op.side, yes);
  Follow(op.side + 1, no);
  Next();
}

void Warp::Switch(const Op& op) {
  const SwitchOp& cases = code_.switches[op.side];
  const std::byte* values = At<std::byte>(op.a);
  uint32_t left = mask_;
  ++launch_.counters.branches;
  bool is_split = false;
  const uint32_t all = mask_;
  while (left != 0) {
    const int lane = std::countr_zero(left);
    const auto value_of = [&](int k) {
      uint64_t value = 0;
      std::memcpy(&value, values + k * cases.bytes, cases.bytes);
      return value;
    };
    const uint64_t value = value_of(lane);
    const size_t which =
        std::find(cases.values.begin(), cases.values.end(), value) - cases.values.begin();
    uint32_t same = 0;
    for (uint32_t rest = left; rest != 0; rest &= rest - 1) {
      const int k = std::countr_zero(rest);
      const size_t its =
          std::find(cases.values.begin(), cases.values.end(), value_of(k)) - cases.values.begin();
      if (its == which) same |= uint32_t{1} << k;
    }
    if (same == all) return Take(cases.edges + which);
    is_split = true;
    Follow(cases.edges + which, same);
    left &= ~same;
  }
  if (is_split) ++launch_.counters.divergent_branches;
  Next();
}

// At the end of a block: what it counts, and whether the launch may go on.
bool Warp::CountBlock() {
  const uint64_t count = at_ - first_of_block_;
  launch_.counters.warp_instructions += count;
  if (launch_.instructions_left >= count) {
    launch_.instructions_left -= count;
    return true;
  }
  launch_.status = absl::DeadlineExceededError(
      absl::StrFormat("kernel \"%s\" ran %d warp instructions and had not ended", code_.name,
                      launch_.options.max_instructions));
  state_ = WarpState::kFailed;
  return false;
}

bool Warp::AtBarrier(const Op& op) {
  if (!others_.empty() || mask_ != existing_) {
    const uint32_t missing = existing_ & ~mask_;
    Report(FindingKind::kDivergentBarrier, std::countr_zero(missing),
           absl::StrFormat("lanes 0x%08x are at a barrier; this thread has %s", mask_,
                           (missing & live_) != 0 ? "gone another way" : "ended"));
    return false;
  }
  ++launch_.counters.barriers;
  barrier_ = At<uint32_t>(op.a)[0];
  barrier_count_ = op.b == kNoRegister ? 0 : At<uint32_t>(op.b)[0];
  // PTX ISA 8.8, section 9.7.13.1: there are 16, for whole warps of the block.
  constexpr uint32_t kBarriers = 16;
  const bool has_threads =
      barrier_count_ % kLanes == 0 && barrier_count_ <= launch_.warps * uint32_t{kLanes};
  if (barrier_ >= kBarriers || !has_threads) {
    Report(FindingKind::kUndefined, std::countr_zero(mask_),
           absl::StrFormat("barrier %d of %d threads: there are %d barriers, and %d warps",
                           barrier_, barrier_count_, kBarriers, launch_.warps));
    return false;
  }
  if (static_cast<BarrierMode>(op.side) == BarrierMode::kArrive) {
    arrivals_.push_back({barrier_, barrier_count_});
    return true;
  }
  launch_.counters.warp_instructions += at_ - first_of_block_;
  first_of_block_ = at_;
  state_ = WarpState::kAtBarrier;
  return true;
}

bool Warp::Step(const Op& op) {
  MemoryUnit memory(launch_, *this);
  switch (op.kind) {
    case OpKind::kRequire:
      return Require(op);
    case OpKind::kLoad:
      return memory.Load(code_.memory[op.side]);
    case OpKind::kStore:
      return memory.Store(code_.memory[op.side]);
    case OpKind::kAtomic:
      return memory.Atomic(code_.atomics[op.side]);
    case OpKind::kCopyBytes:
    case OpKind::kFillBytes:
      return memory.MoveBytes(op);
    case OpKind::kBarrier:
      return AtBarrier(op);
    case OpKind::kWarpSync:
      return SyncLanes(op);
    case OpKind::kShuffle:
      return Shuffle(code_.shuffles[op.side]);
    case OpKind::kMatrix:
      return Matrix(code_.matrices[op.side]);
    case OpKind::kAsyncCopy:
      return memory.StartCopy(code_.asyncs[op.side]);
    case OpKind::kAsyncCommit:
      CommitCopies();
      return true;
    case OpKind::kAsyncWait:
      return memory.AwaitCopies(op.side == 1, op.side == 1 ? 0 : At<uint32_t>(op.a)[0]);
    case OpKind::kMbarrier:
      return memory.UseMbarrier(code_.mbarriers[op.side]);
    case OpKind::kVote:
      return Vote(op);
    case OpKind::kReduce:
      return Reduce(op);
    case OpKind::kMatch:
      return Match(op);
    case OpKind::kActiveMask: {
      std::array<uint32_t, kLanes> values;
      values.fill(mask_);
      Put(op.result, values.data(), 4, op.is_local);
      return true;
    }
    case OpKind::kTrap:
      Report(FindingKind::kUndefined, std::countr_zero(mask_), "an unreachable place is reached");
      return false;
    default:
      return true;
  }
}

void Warp::Run() {
  const Op* ops = code_.ops.data();
  while (state_ == WarpState::kReady) {
    const Op& op = ops[at_++];
    switch (op.kind) {
      case OpKind::kLanes:
        RunLanes(op);
        break;
      case OpKind::kJump:
        if (CountBlock()) Take(op.side);
        break;
      case OpKind::kBranch:
        if (CountBlock()) Branch(op);
        break;
      case OpKind::kSwitch:
        if (CountBlock()) Switch(op);
        break;
      case OpKind::kReturn:
        if (!CountBlock()) break;
        live_ &= ~mask_;
        Next();
        break;
      default:
        if (!Step(op)) state_ = WarpState::kFailed;
        break;
    }
  }
}

}  // namespace assay::gpu
