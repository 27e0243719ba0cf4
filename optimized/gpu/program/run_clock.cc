// In doubles, rounded per launch, so that sums hang on no order.
#include "optimized/gpu/program/run_clock.h"

#include <algorithm>

namespace assay::gpu {
namespace {

constexpr double kSectorBytes = 32, kBegunPerCycle = 4;
// A multiprocessor alone does not draw more than this from memory.
constexpr double kMostBytesPerCycle = 64;

// Picoseconds for so many things, of which the device does so many per second.
uint64_t TimeFor(double things, double per_second) {
  return static_cast<uint64_t>(things / per_second * 1e12);
}

}  // namespace

uint64_t TimeOfLaunch(const Architecture& architecture, const Counters& before,
                      const Counters& after, uint64_t blocks, RunClock& clock) {
  const double hertz = architecture.megahertz * 1e6;
  const double all = architecture.multiprocessors;
  const double busy = std::clamp(static_cast<double>(blocks), 1.0, all);
  const double memory = architecture.memory_gigabytes * 1e9;
  const double bytes =
      kSectorBytes * static_cast<double>(after.global_sectors - before.global_sectors);
  const auto begun = static_cast<double>(after.warp_instructions - before.warp_instructions);
  const uint64_t moved = TimeFor(bytes, std::min(memory, busy * kMostBytesPerCycle * hertz));
  const uint64_t computed = TimeFor(begun, busy * kBegunPerCycle * hertz);
  const uint64_t time =
      architecture.launch_nanoseconds * uint64_t{1000} + std::max(moved, computed);
  clock.total += time;
  clock.memory += TimeFor(bytes, memory);
  clock.instructions += TimeFor(begun, all * kBegunPerCycle * hertz);
  return time;
}

uint64_t TimeOfCopy(const Architecture& architecture, uint64_t bytes, bool with_host,
                    RunClock& clock) {
  // Within the device each byte is read and written.
  const uint64_t moved =
      with_host ? TimeFor(static_cast<double>(bytes), architecture.link_gigabytes * 1e9)
                : TimeFor(2 * static_cast<double>(bytes), architecture.memory_gigabytes * 1e9);
  if (!with_host) clock.memory += moved;
  const uint64_t time = architecture.launch_nanoseconds * uint64_t{1000} + moved;
  clock.total += time;
  return time;
}

}  // namespace assay::gpu
