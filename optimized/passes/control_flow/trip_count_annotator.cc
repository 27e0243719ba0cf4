// Notes the trips of counted loops.
#include "optimized/passes/control_flow/trip_count_annotator.h"

#include <limits>

#include "optimized/analysis/while_state.h"
#include "optimized/passes/util/module_util.h"

namespace assay {
namespace {

std::optional<int64_t> TripsOf(const Instruction& loop) {
  if (loop.callee(0)->parameter_count() != 1 || loop.callee(1)->parameter_count() != 1)
    return std::nullopt;
  return TripCount(&loop, std::numeric_limits<int64_t>::max());
}

}  // namespace

absl::StatusOr<bool> TripCountAnnotator::Run(Module& module, PassContext&) {
  if (!module.HasAny({Opcode::kWhile})) return false;
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (inst->opcode() != Opcode::kWhile) continue;
      const std::optional<int64_t> trips = TripsOf(*inst);
      if (!trips.has_value() || NotedTripCount(*inst) == trips) continue;
      NoteTripCount(inst, *trips);
      changed = true;
    }
  }
  return changed;
}

}  // namespace assay
