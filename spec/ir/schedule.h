// A sequential order of the instructions of each non-fusion computation. Document: HloModule
// (HloSchedule).
#pragma once

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "spec/ir/instruction.h"

namespace assay {

class Module;

class Schedule {
 public:
  using Sequence = std::vector<Instruction*>;

  void set_sequence(const Computation* computation, Sequence sequence);
  bool is_computation_scheduled(const Computation* computation) const;
  // `computation` must be scheduled.
  const Sequence& sequence(const Computation* computation) const;
  size_t size() const { return sequences_.size(); }

  // Every non-fusion computation of `module` and no other is scheduled; its sequence holds each of
  // its instructions once, operands and control predecessors before users.
  absl::Status Verify(const Module& module) const;
  // The stored order of every non-fusion computation.
  static Schedule FromStoredOrder(const Module& module);

 private:
  absl::flat_hash_map<const Computation*, Sequence> sequences_;
};

}  // namespace assay
