// Tells late workers from those that starve.
#include "fuzz/late_worker.h"

namespace assay {
namespace {

constexpr double kDeathSeconds = 60;  // a killed process that is not gone by then never will be
constexpr double kShareOfTime = 0.5, kMostTimesAsLong = 4;

}  // namespace

LateWorker::Step LateWorker::NextStep(double now) const {
  if (now < deadline) return Step::kWait;
  if (killed) return now > killed_at + kDeathSeconds ? Step::kGiveUp : Step::kWait;
  const bool has_starved =
      now < deadline + (kMostTimesAsLong - 1) * seconds && waited > kShareOfTime * seconds;
  return has_starved ? Step::kWait : Step::kKill;
}

}  // namespace assay
