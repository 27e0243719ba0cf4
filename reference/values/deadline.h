// The time at which a run has to end. Ops with long loops ask for it inside them and stop short,
// for their result is not used any more; the interpreter then ends the run with an error.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace assay::reference {

class Deadline {
 public:
  // `seconds` from now.
  explicit Deadline(double seconds)
      : end_(Clock::now() +
             std::chrono::microseconds(static_cast<int64_t>(std::clamp(seconds, 0.0, 1e9) * 1e6))) {
  }

  // Counts `work` element evaluations and looks at the clock now and then. True from the first look
  // after the end on.
  bool IsOver(int64_t work) {
    until_look_ -= std::min(work, kInterval);
    if (until_look_ <= 0 && !is_over_) {
      until_look_ = kInterval;
      is_over_ = Clock::now() >= end_;
    }
    return is_over_;
  }
  // True once a look has seen the end.
  bool is_over() const { return is_over_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int64_t kInterval = 1 << 16;

  Clock::time_point end_;
  int64_t until_look_ = 0;
  bool is_over_ = false;
};

}  // namespace assay::reference
