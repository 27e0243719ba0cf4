// The time that a run may take. Ops with long loops ask for it inside them and stop short, for
// their result is not used any more; the interpreter then ends the run with an error.
#pragma once

#include <algorithm>
#include <cstdint>

#include "absl/container/flat_hash_map.h"

namespace assay::reference {

class Deadline {
 public:
  // After `seconds` of the CPU time of this thread and of those that it starts for the run: what
  // they wait for is not their own time. Before, once EvaluationsShouldEnd.
  explicit Deadline(double seconds);

  // Counts `work` element evaluations and looks at the clock now and then. True from the first look
  // after the end on.
  bool IsOver(int64_t work) {
    until_look_ -= std::min(work, kInterval);
    if (until_look_ <= 0 && !is_over_) Look();
    return is_over_;
  }
  // True once a look has seen the end.
  bool is_over() const { return is_over_; }
  bool is_interrupted() const { return is_interrupted_; }

 private:
  static constexpr int64_t kInterval = 1 << 16;
  void Look();

  double seconds_left_;
  // The time of each thread's clock when it looked last.
  absl::flat_hash_map<int64_t, double> clocks_;
  int64_t until_look_ = 0;
  bool is_over_ = false, is_interrupted_ = false;
};

}  // namespace assay::reference
