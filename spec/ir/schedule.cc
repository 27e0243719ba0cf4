// Schedules: read from the stored order and checked against the dependencies.
#include "spec/ir/schedule.h"

#include "absl/container/flat_hash_set.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/ir/module.h"

namespace assay {
namespace {

absl::Status VerifySequence(const Computation& computation, const Schedule::Sequence& sequence) {
  auto error = [&](const auto&... parts) {
    return absl::InvalidArgumentError(
        StrCat("schedule of computation ", computation.name(), ": ", parts...));
  };
  absl::flat_hash_set<const Instruction*> members(computation.begin(), computation.end());
  absl::flat_hash_set<const Instruction*> seen;
  for (const Instruction* instruction : sequence) {
    if (!members.contains(instruction)) return error("an instruction is not in the computation");
    if (!seen.insert(instruction).second) return error(instruction->name(), " is there twice");
    for (const Instruction* operand : instruction->operands()) {
      if (!seen.contains(operand)) {
        return error(instruction->name(), " comes before its operand ", operand->name());
      }
    }
    for (const Instruction* predecessor : instruction->control_predecessors()) {
      if (!seen.contains(predecessor)) {
        return error(instruction->name(), " comes before its control predecessor ",
                     predecessor->name());
      }
    }
  }
  if (seen.size() != members.size()) {
    return error("it holds ", seen.size(), " of ", members.size(), " instructions");
  }
  return absl::OkStatus();
}

}  // namespace

void Schedule::set_sequence(const Computation* computation, Sequence sequence) {
  sequences_[computation] = std::move(sequence);
}

bool Schedule::is_computation_scheduled(const Computation* computation) const {
  return sequences_.contains(computation);
}

const Schedule::Sequence& Schedule::sequence(const Computation* computation) const {
  return sequences_.at(computation);
}

absl::Status Schedule::Verify(const Module& module) const {
  size_t scheduled = 0;
  for (const Computation* computation : module.MakeNonfusionComputations()) {
    auto at = sequences_.find(computation);
    if (at == sequences_.end()) {
      return absl::InvalidArgumentError(
          StrCat("schedule: computation ", computation->name(), " has no sequence"));
    }
    ++scheduled;
    ASSAY_RETURN_IF_ERROR(VerifySequence(*computation, at->second));
  }
  if (scheduled != sequences_.size()) {
    return absl::InvalidArgumentError(
        StrCat("schedule: ", sequences_.size(), " sequences for ", scheduled,
               " computations that are not fused; the others are fused or of another module"));
  }
  return absl::OkStatus();
}

Schedule Schedule::FromStoredOrder(const Module& module) {
  Schedule schedule;
  for (const Computation* computation : module.MakeNonfusionComputations()) {
    schedule.set_sequence(computation, Sequence(computation->begin(), computation->end()));
  }
  return schedule;
}

}  // namespace assay
