// Shuffles, votes and what else lanes of a warp tell each other (PTX ISA 8.8, sections 9.7.9
// and 9.7.13).
#include <array>
#include <bit>
#include <cstring>

#include "absl/strings/str_format.h"
#include "optimized/gpu/simulator/machine/warp.h"

namespace assay::gpu {

// The lanes of the mask must all be here, and those that are here must be in it. Otherwise nothing
// is defined.
bool Warp::TakesPart(uint32_t lanes, const char* what) {
  const uint32_t absent = lanes & ~mask_, uninvited = mask_ & ~lanes;
  if (absent == 0 && uninvited == 0) return true;
  const uint32_t wrong = absent != 0 ? absent : uninvited;
  Report(FindingKind::kLaneNotInvolved, std::countr_zero(wrong),
         absl::StrFormat("%s of lanes 0x%08x, where lanes 0x%08x run: this one %s", what, lanes,
                         mask_, absent != 0 ? "is waited for" : "is not named"));
  return false;
}

bool Warp::SyncLanes(const Op& op) {
  if (!TakesPart(At<uint32_t>(op.a)[std::countr_zero(mask_)], "a synchronisation")) return false;
  launch_.Tick();
  warp_stamp_ = launch_.limits.now;
  return true;
}

bool Warp::Shuffle(const ShuffleOp& op) {
  if (!TakesPart(At<uint32_t>(op.lanes)[std::countr_zero(mask_)], "a shuffle")) return false;
  alignas(64) std::array<uint32_t, kLanes> results, from;
  alignas(64) std::array<uint8_t, kLanes> in_range;
  launch_.lanes.shuffle[static_cast<int>(op.mode)]({.values = At<uint32_t>(op.value),
                                                    .offsets = At<uint32_t>(op.offset),
                                                    .clamps = At<uint32_t>(op.clamp),
                                                    .results = results.data(),
                                                    .from = from.data(),
                                                    .in_range = in_range.data()});
  for (uint32_t rest = mask_ == ~uint32_t{0} ? 0 : mask_; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if ((mask_ >> from[lane] & 1) != 0) continue;
    Report(
        FindingKind::kLaneNotInvolved, lane,
        absl::StrFormat("a shuffle takes the value of lane %d, which takes no part", from[lane]));
    return false;
  }
  Put(op.result, results.data(), 4, op.result_is_local);
  Put(op.in_range, in_range.data(), 1, op.in_range_is_local);
  return true;
}

bool Warp::Vote(const Op& op) {
  if (!TakesPart(At<uint32_t>(op.a)[std::countr_zero(mask_)], "a vote")) return false;
  const uint32_t yes = Truths(op.b) & mask_;
  const auto mode = static_cast<VoteMode>(op.side);
  if (mode == VoteMode::kBallot) {
    std::array<uint32_t, kLanes> results;
    results.fill(yes);
    Put(op.result, results.data(), 4, op.is_local);
    return true;
  }
  const bool result = mode == VoteMode::kAll   ? yes == mask_
                      : mode == VoteMode::kAny ? yes != 0
                                               : yes == mask_ || yes == 0;
  std::array<uint8_t, kLanes> results;
  results.fill(result ? 1 : 0);
  Put(op.result, results.data(), 1, op.is_local);
  return true;
}

bool Warp::Reduce(const Op& op) {
  if (!TakesPart(At<uint32_t>(op.a)[std::countr_zero(mask_)], "a reduction")) return false;
  const LaneFunction fold = Lanes().ops[op.side][kI32];
  alignas(64) std::array<uint32_t, kLanes> all, next, folded;
  const uint32_t* values = At<uint32_t>(op.b);
  all.fill(values[std::countr_zero(mask_)]);
  for (uint32_t rest = mask_ & (mask_ - 1); rest != 0; rest &= rest - 1) {
    next.fill(values[std::countr_zero(rest)]);
    fold(folded.data(), all.data(), next.data(), nullptr);
    all = folded;
  }
  Put(op.result, all.data(), 4, op.is_local);
  return true;
}

bool Warp::Match(const Op& op) {
  if (!TakesPart(At<uint32_t>(op.a)[std::countr_zero(mask_)], "a match")) return false;
  const std::byte* values = At<std::byte>(op.b);
  std::array<uint32_t, kLanes> results;
  results.fill(0);
  for (uint32_t rest = mask_; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    for (uint32_t others = mask_; others != 0; others &= others - 1) {
      const int other = std::countr_zero(others);
      if (std::memcmp(values + lane * op.side, values + other * op.side, op.side) == 0) {
        results[lane] |= uint32_t{1} << other;
      }
    }
  }
  Put(op.result, results.data(), 4, op.is_local);
  return true;
}

}  // namespace assay::gpu
