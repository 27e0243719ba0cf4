// The budget of one run: element evaluations, time and memory.
#pragma once

#include "absl/status/status.h"
#include "reference/values/deadline.h"
#include "reference/values/value.h"
#include "spec/backend/backend.h"

namespace assay::reference {

class Budget {
 public:
  explicit Budget(const Limits& limits);
  // Takes `steps` element evaluations; timeout when there are none left or the time is over.
  absl::Status Take(int64_t steps);
  // Fails with "timeout" once an op has seen the end of the time and stopped short.
  absl::Status CheckTime() const;
  Deadline& deadline() { return deadline_; }
  MemoryMeter& memory() { return memory_; }
  int64_t steps_taken() const { return limits_.steps - steps_left_; }

 private:
  Limits limits_;
  MemoryMeter memory_;
  int64_t steps_left_;
  Deadline deadline_;
};

}  // namespace assay::reference
