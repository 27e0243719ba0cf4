// Orders the instructions of each computation that runs as a unit so that less memory is alive at
// once, and stores the order as the module's schedule, which buffer assignment goes by. The trivial
// order, operands before users as a walk from the root meets them, stays wherever the other one is
// not better. Document: HLO passes, "HLO memory scheduler" and "HLO trivial scheduler".
#pragma once

#include <cstdint>
#include <vector>

#include "optimized/passes/pass.h"
#include "optimized/passes/util/module_util.h"

namespace assay {

// An order of all instructions of a computation, operands and control predecessors first.
using InstructionOrder = std::vector<Instruction*>;

// True if the result is made of the operands' own values.
bool OnlyRenames(const Instruction& inst);
// True of values that lie in memory from the beginning to the end of the computation.
bool IsAlwaysThere(const Instruction& inst);

// The most bytes that are alive at once: where no value takes the place of another, and where each
// takes that of one of its size that dies, if its op can. Buffer assignment is in between.
struct PeakMemory {
  int64_t plain = 0, reusing = 0;
  // A few bytes are not worth another order: how values are packed matters more.
  bool IsBetterThan(const PeakMemory& other) const {
    return plain < other.plain - other.plain / 64 && reusing <= other.reusing;
  }
};

// The peak if the computation runs in this order: a value lives from its instruction to its last
// reader; what only renames or regroups values makes none, and the results of the computation have
// places that do not count.
PeakMemory PeakOf(const InstructionOrder& order);

// The best of three orders: the trivial one, which wins a tie; a list schedule, in which of all
// that is ready the instruction that grows memory least comes next; and a walk into the operand
// first that needs the most memory beyond what it leaves. Side effects keep their order.
InstructionOrder LeastMemoryOrder(const Computation& computation, const Purity& purity);

class MemoryScheduler : public Pass {
 public:
  std::string_view name() const override { return "memory-scheduler"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
