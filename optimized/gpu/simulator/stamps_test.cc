// Stamps against the definition of a race: random accesses of threads to a few granules, with
// barriers, synchronisations of warps, new blocks and new launches in between. A finding is due
// when, and only when, an access meets one that nothing orders before it.
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "optimized/gpu/simulator/lanes/lane_table.h"
#include "optimized/gpu/simulator/lanes/stamps.h"

namespace assay::gpu {
namespace {

constexpr int kWarps = 3, kGranules = 4;

struct PastAccess {
  int granule, launch, block, interval, warp, lane, sync;
  bool is_write;
};

class Trace {
 public:
  explicit Trace(uint64_t seed) : random_(seed) {}

  // Up to the first race, or `steps` events. True: the stamps say what the definition says, at each
  // access.
  bool Run(int steps, const LaneTable& table) {
    Start(true);
    for (int k = 0; k < steps; ++k) {
      const uint64_t event = random_() % 40;
      if (event == 0) Start(true);
      if (event == 1) Start(false);
      if (event == 2) Barrier();
      if (event == 3) Synchronise(random_() % kWarps);
      if (event < 4) continue;
      PastAccess access = {static_cast<int>(random_() % kGranules),
                           launch_,
                           block_,
                           interval_,
                           static_cast<int>(random_() % kWarps),
                           static_cast<int>(random_() % 3),
                           0,
                           random_() % 3 == 0};
      access.sync = syncs_[access.warp];
      const bool expected = IsOrderedAfterAll(access);
      if (Stamp(access, table) != expected) return false;
      if (!expected) return true;
      past_.push_back(access);
    }
    return true;
  }
  size_t accesses() const { return past_.size(); }

 private:
  void Tick() { now_ += 1u << kStampClockShift; }
  void Start(bool is_launch) {
    Tick();
    if (is_launch) {
      ++launch_;
      limits_.launch = now_;
    }
    ++block_;
    interval_ = 0;
    limits_.block = limits_.barrier = now_;
    warps_.fill(now_);
    syncs_.fill(0);
  }
  void Barrier() {
    Tick();
    ++interval_;
    limits_.barrier = now_;
  }
  void Synchronise(uint64_t warp) {
    Tick();
    ++syncs_[warp];
    warps_[warp] = now_;
  }
  bool IsOrderedAfterAll(const PastAccess& access) const {
    for (const PastAccess& old : past_) {
      if (old.granule != access.granule || (!old.is_write && !access.is_write)) continue;
      if (old.launch != access.launch) continue;
      if (old.block != access.block) return false;
      if (old.interval != access.interval) continue;
      if (old.warp != access.warp) return false;
      if (old.lane != access.lane && old.sync == access.sync) return false;
    }
    return true;
  }
  bool Stamp(const PastAccess& access, const LaneTable& table) {
    limits_.now = now_;
    limits_.warp = warps_[access.warp];
    const StampRange range = {.writes = &writes_[access.granule],
                              .reads = &reads_[access.granule],
                              .count = 1,
                              .first_thread = static_cast<uint32_t>(access.warp * 32 + access.lane)
                                              << 2};
    return (access.is_write ? table.write_stamps : table.read_stamps)(range, limits_);
  }

  std::mt19937_64 random_;
  uint32_t now_ = 1u << kStampClockShift;
  StampLimits limits_;
  std::array<uint32_t, kWarps> warps_ = {};
  std::array<int, kWarps> syncs_ = {};
  int launch_ = 0, block_ = 0, interval_ = 0;
  std::array<uint32_t, kGranules> writes_ = {}, reads_ = {};
  std::vector<PastAccess> past_;
};

TEST(Stamps, FindTheRacesAndNoOthers) {
  size_t accesses = 0;
  for (const LaneTable& table : {BaselineLanes(), Lanes()}) {
    for (uint64_t seed = 0; seed < 20000; ++seed) {
      Trace trace(seed);
      ASSERT_TRUE(trace.Run(60, table)) << "seed " << seed;
      accesses += trace.accesses();
    }
  }
  EXPECT_GT(accesses, 100000u);  // the traces do not all end at once
}

}  // namespace
}  // namespace assay::gpu
