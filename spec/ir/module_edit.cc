// Modules take over computations and schedules. Document: HloModule.
#include <algorithm>

#include "spec/base/check.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/ir/module.h"

namespace assay {
namespace {

bool Holds(absl::Span<Computation* const> computations, const Computation* computation) {
  return std::find(computations.begin(), computations.end(), computation) != computations.end();
}

}  // namespace

absl::StatusOr<Computation*> Module::TakeOver(std::unique_ptr<Computation> computation, Role role) {
  if (computation == nullptr) return absl::InvalidArgumentError("no computation is given");
  if (computation->parent_ != nullptr) {
    return absl::FailedPreconditionError(StrCat(
        "computation ", computation->name_, " belongs to module ", computation->parent_->name_));
  }
  if (computation->root_ == nullptr) {
    return absl::InvalidArgumentError(StrCat("computation ", computation->name_, " has no root"));
  }
  if (role != Role::kEmbedded && entry_ != nullptr) {
    return absl::FailedPreconditionError(StrCat("module ", name_, " has the entry computation ",
                                                entry_->name_,
                                                "; a module has one, use ReplaceEntryComputation"));
  }
  for (const Instruction* instruction : *computation) {
    for (const Computation* callee : instruction->callees()) {
      if (!Holds(computations_, callee)) {
        return absl::InvalidArgumentError(
            StrCat(instruction->name_, " calls a computation of another module"));
      }
    }
  }
  computation->name_ = computation_names_.GetUniqueName(
      computation->name_.empty() ? "computation" : computation->name_);
  Computation* added = computation.release();
  added->parent_ = this;
  added->detached_names_.reset();
  added->id_ = next_computation_id_++;
  for (Instruction* instruction : *added) {
    instruction->name_ = names_.GetUniqueName(instruction->name_);
    instruction->id_ = NewUniqueInstructionId();
    ++count_of_[static_cast<size_t>(instruction->opcode_)];
  }
  computations_.push_back(added);
  if (role == Role::kEmbedded) return added;
  entry_ = added;
  if (role == Role::kEntryWithLayouts || config_.entry_layout == nullptr) {
    config_.entry_layout =
        std::make_unique<EntryLayout>(added->ComputeProgramShape(),
                                      /*ignore_layouts=*/role != Role::kEntryWithLayouts);
  }
  return added;
}

Computation* Module::GetComputationWithName(std::string_view name) const {
  for (Computation* computation : computations_) {
    if (computation->name_ == name) return computation;
  }
  return nullptr;
}

absl::Status Module::set_schedule(Schedule schedule) {
  ASSAY_RETURN_IF_ERROR(schedule.Verify(*this));
  for (Computation* computation : MakeNonfusionComputations()) {
    const Schedule::Sequence& sequence = schedule.sequence(computation);
    for (size_t i = sequence.size() - 1; i-- > 0;) {
      computation->MoveBefore(sequence[i], sequence[i + 1]);
    }
  }
  config_.is_scheduled = true;
  schedule_ = std::make_unique<Schedule>(std::move(schedule));
  return absl::OkStatus();
}

void Module::clear_schedule() {
  config_.is_scheduled = false;
  schedule_.reset();
}

const Schedule& Module::schedule() const {
  ASSAY_CHECK(has_schedule(), "the module has no schedule");
  if (schedule_ == nullptr) {
    schedule_ = std::make_unique<Schedule>(Schedule::FromStoredOrder(*this));
  }
  return *schedule_;
}

Schedule& Module::schedule() { return const_cast<Schedule&>(std::as_const(*this).schedule()); }

std::vector<Computation*> Module::MakeNonfusionComputations() const {
  absl::flat_hash_set<const Computation*> fused;
  for (const Computation* computation : computations_) {
    for (const Instruction* instruction : *computation) {
      if (instruction->opcode() != Opcode::kFusion) continue;
      fused.insert(instruction->callees().begin(), instruction->callees().end());
    }
  }
  std::vector<Computation*> order = ComputationPostOrder();
  std::erase_if(order, [&](const Computation* computation) { return fused.contains(computation); });
  return order;
}

}  // namespace assay
