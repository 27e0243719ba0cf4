// The budget of one run: element evaluations, time and memory.
#pragma once

#include <chrono>

#include "absl/status/status.h"
#include "reference/values/value.h"
#include "spec/backend/backend.h"

namespace assay::reference {

class Budget {
 public:
  explicit Budget(const Limits& limits);
  // Takes `steps` element evaluations; timeout when there are none left or the time is over.
  absl::Status Take(int64_t steps);
  MemoryMeter& memory() { return memory_; }
  int64_t steps_taken() const { return limits_.steps - steps_left_; }

 private:
  Limits limits_;
  MemoryMeter memory_;
  int64_t steps_left_;
  int64_t next_clock_check_ = 0;
  std::chrono::steady_clock::time_point deadline_;
};

}  // namespace assay::reference
