// Adding, replacing and outlining computations; what Module checks and derives. Document:
// HloModule.
#include <algorithm>

#include "spec/base/check.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/ir/hash.h"
#include "spec/ir/module.h"

namespace assay {
namespace {

bool Holds(absl::Span<Computation* const> computations, const Computation* computation) {
  return std::find(computations.begin(), computations.end(), computation) != computations.end();
}

}  // namespace

absl::StatusOr<Computation*> Module::AddComputationInternal(
    std::unique_ptr<Computation> computation, bool is_entry, bool uniquify_identifiers,
    bool preserve_entry_layouts) {
  if (computation == nullptr) return absl::InvalidArgumentError("no computation is given");
  if (computation->parent_ != nullptr) {
    return absl::FailedPreconditionError(StrCat(
        "computation ", computation->name_, " belongs to module ", computation->parent_->name_));
  }
  if (computation->root_ == nullptr) {
    return absl::InvalidArgumentError(StrCat("computation ", computation->name_, " has no root"));
  }
  if (is_entry && entry_ != nullptr) {
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
  if (!uniquify_identifiers) {
    // The caller vouches for names and ids; what is taken already is an error.
    if (!computation_names_.Take(computation->name_)) {
      return absl::AlreadyExistsError(
          StrCat("module ", name_, " has a computation ", computation->name_));
    }
  } else {
    computation->name_ = computation_names_.GetUniqueName(
        computation->name_.empty() ? "computation" : computation->name_);
  }
  Computation* added = computation.release();
  added->parent_ = this;
  added->detached_names_.reset();
  added->id_ = next_computation_id_++;
  for (Instruction* instruction : *added) {
    instruction->name_ = names_.GetUniqueName(instruction->name_);
    instruction->id_ = NewUniqueInstructionId();
  }
  computations_.push_back(added);
  if (!is_entry) return added;
  entry_ = added;
  if (preserve_entry_layouts) {
    *mutable_entry_computation_layout() = compute_computation_layout();
  } else if (config_.entry_layout == nullptr) {
    config_.entry_layout =
        std::make_unique<EntryLayout>(added->ComputeProgramShape(), /*ignore_layouts=*/true);
  }
  return added;
}

absl::StatusOr<Computation*> Module::AddEntryComputation(std::unique_ptr<Computation> computation) {
  return AddComputationInternal(std::move(computation), /*is_entry=*/true,
                                /*uniquify_identifiers=*/true, /*preserve_entry_layouts=*/false);
}

absl::StatusOr<Computation*> Module::AddEntryComputationWithLayouts(
    std::unique_ptr<Computation> computation) {
  return AddComputationInternal(std::move(computation), /*is_entry=*/true,
                                /*uniquify_identifiers=*/true, /*preserve_entry_layouts=*/true);
}

absl::StatusOr<Computation*> Module::AddEmbeddedComputation(
    std::unique_ptr<Computation> computation) {
  return AddComputationInternal(std::move(computation), /*is_entry=*/false,
                                /*uniquify_identifiers=*/true, /*preserve_entry_layouts=*/false);
}

absl::StatusOr<Computation*> Module::AddComputationAndUnifyNamesAndIds(
    std::unique_ptr<Computation> computation, bool is_entry) {
  if (computation != nullptr) {
    computation->ClearUniqueIdInternal();
    for (Instruction* instruction : computation->instructions()) {
      instruction->ClearUniqueIdInternal();
    }
  }
  return AddComputationInternal(std::move(computation), is_entry, /*uniquify_identifiers=*/true,
                                /*preserve_entry_layouts=*/true);
}

absl::Status Module::ReplaceEntryComputation(Computation* computation) {
  if (!Holds(computations_, computation)) {
    return absl::InvalidArgumentError(StrCat("the new entry computation is not in module ", name_));
  }
  entry_ = computation;
  config_.entry_layout = std::make_unique<EntryLayout>(compute_computation_layout());
  config_.input_output_alias.clear();
  config_.buffer_donors.clear();
  return absl::OkStatus();
}

void Module::ReplaceComputations(
    const absl::flat_hash_map<Computation*, Computation*>& replacements) {
  for (Computation* computation : computations_) {
    for (Instruction* instruction : *computation) {
      for (size_t i = 0; i < instruction->callees().size(); ++i) {
        auto at = replacements.find(instruction->callees()[i]);
        if (at != replacements.end()) {
          instruction->set_callee(static_cast<int64_t>(i), at->second);
        }
      }
    }
  }
  auto at = replacements.find(entry_);
  if (at != replacements.end()) entry_ = at->second;
}

absl::Status Module::RemoveEmbeddedComputation(Computation* computation) {
  if (!Holds(computations_, computation)) {
    return absl::NotFoundError(StrCat("the computation to remove is not in module ", name_));
  }
  if (computation == entry_) {
    return absl::FailedPreconditionError(StrCat(computation->name_, " is the entry computation"));
  }
  for (const Instruction* caller : Callers(computation)) {
    if (caller->parent() == computation) continue;
    return absl::FailedPreconditionError(
        StrCat("computation ", computation->name_, " is called by ", caller->name()));
  }
  RemoveComputation(computation);
  return absl::OkStatus();
}

absl::StatusOr<Instruction*> Module::OutlineExpressionFromComputation(
    absl::Span<Instruction* const> instructions, std::string_view outlined_computation_name,
    Computation* computation) {
  auto error = [&](const auto&... parts) {
    return absl::InvalidArgumentError(
        StrCat("outlining ", outlined_computation_name, ": ", parts...));
  };
  if (instructions.empty()) return error("there are no instructions");
  const absl::flat_hash_set<const Instruction*> members(instructions.begin(), instructions.end());
  if (members.size() != instructions.size()) return error("an instruction is given twice");
  if (members.contains(nullptr)) return error("one of the instructions is null");
  absl::flat_hash_set<const Instruction*> before;
  Instruction* output = nullptr;
  for (Instruction* instruction : instructions) {
    const std::string& name = instruction->name_;
    if (instruction->parent_ != computation) return error(name, " is in another computation");
    if (instruction->opcode_ == Opcode::kParameter) return error(name, " is a parameter");
    for (const Instruction* operand : instruction->operands()) {
      if (members.contains(operand) && !before.contains(operand)) {
        return error(name, " comes before its operand ", operand->name());
      }
    }
    before.insert(instruction);
    auto inside = [&](const Instruction* other) { return members.contains(other); };
    for (auto list : {instruction->control_predecessors(), instruction->control_successors()}) {
      if (!std::all_of(list.begin(), list.end(), inside)) {
        return error(name, " has a control dependency on what stays outside");
      }
    }
    auto users = instruction->users();
    if (computation->root_ == instruction || !std::all_of(users.begin(), users.end(), inside)) {
      if (output != nullptr) return error(output->name_, " and ", name, " are both used outside");
      output = instruction;
    }
  }
  if (output == nullptr) output = instructions.back();

  Computation* outlined = AddComputation(outlined_computation_name);
  if (entry_ == outlined) entry_ = nullptr;
  absl::flat_hash_map<const Instruction*, Instruction*> inner;
  OperandVector arguments;
  for (Instruction* original : instructions) {
    OperandVector operands;
    for (Instruction* operand : original->operands_) {
      auto [at, is_new] = inner.try_emplace(operand, nullptr);
      if (is_new) {
        at->second = outlined->AddParameter(static_cast<int64_t>(arguments.size()),
                                            operand->shape(), operand->name_);
        arguments.push_back(operand);
      }
      operands.push_back(at->second);
    }
    Instruction* copy = outlined->Add(original->opcode_, original->shape_, operands,
                                      original->attributes_, original->callees_, original->name_);
    copy->literal_ = original->literal_;
    inner[original] = copy;
    for (Instruction* predecessor : original->control_predecessors_) {
      copy->AddControlPredecessor(inner.at(predecessor));
    }
  }
  outlined->root_ = inner.at(output);
  Instruction* call = computation->Add(Opcode::kCall, output->shape_, arguments, {},
                                       absl::MakeConstSpan(&outlined, 1), "call");
  computation->MoveBefore(call, output);
  output->ReplaceAllUsesWith(call);
  for (size_t i = instructions.size(); i-- > 0;) computation->Remove(instructions[i]);
  return call;
}

Computation* Module::mutable_computation(int64_t index) {
  ASSAY_CHECK(index >= 0 && index < computation_count(), "no computation has this index");
  return computations_[index];
}

Computation* Module::GetComputationWithName(std::string_view name) const {
  for (Computation* computation : computations_) {
    if (computation->name_ == name) return computation;
  }
  return nullptr;
}

Computation* Module::entry_computation() const {
  ASSAY_CHECK(entry_ != nullptr, "the module has no entry computation");
  return entry_;
}

const Shape& Module::result_shape() const { return entry_computation()->root()->shape(); }

void Module::Cleanup() {
  for (Computation* computation : computations_) computation->Cleanup();
}

absl::Status Module::CheckUniqueNamesAndIdsForComputationsAndInstructions() const {
  absl::flat_hash_set<std::string_view> computation_names, names;
  absl::flat_hash_set<int64_t> computation_ids, ids;
  auto check = [](std::string_view what, std::string_view name, int64_t id, auto& seen_names,
                  auto& seen_ids) {
    if (!seen_names.insert(name).second) {
      return absl::InternalError(StrCat("two ", what, "s are named ", name));
    }
    if (id < 0) return absl::InternalError(StrCat(what, " ", name, " has no id"));
    if (!seen_ids.insert(id).second) {
      return absl::InternalError(StrCat(what, " ", name, " has the id ", id, " of another one"));
    }
    return absl::OkStatus();
  };
  for (const Computation* computation : computations_) {
    ASSAY_RETURN_IF_ERROR(check("computation", computation->name_, computation->id_,
                                computation_names, computation_ids));
    for (const Instruction* instruction : *computation) {
      ASSAY_RETURN_IF_ERROR(check("instruction", instruction->name_, instruction->id_, names, ids));
    }
  }
  return absl::OkStatus();
}

EntryLayout Module::compute_computation_layout() const {
  return EntryLayout(entry_computation()->ComputeProgramShape(), /*ignore_layouts=*/false);
}

const EntryLayout& Module::entry_computation_layout() const {
  ASSAY_CHECK(config_.entry_layout != nullptr, "the config has no entry computation layout");
  return *config_.entry_layout;
}

EntryLayout* Module::mutable_entry_computation_layout() {
  if (config_.entry_layout == nullptr) {
    config_.entry_layout = std::make_unique<EntryLayout>(compute_computation_layout());
  }
  return config_.entry_layout.get();
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

const std::vector<Sharding>& Module::spmd_parameters_shardings() const {
  ASSAY_CHECK(has_spmd_parameters_shardings(), "set_spmd_parameters_shardings was not called");
  return *annotations_.spmd_parameters_shardings;
}

const Sharding& Module::spmd_output_sharding() const {
  ASSAY_CHECK(has_spmd_output_sharding(), "set_spmd_output_sharding was not called");
  return *annotations_.spmd_output_sharding;
}

std::vector<Computation*> Module::MakeComputationPostOrder(
    const absl::flat_hash_set<std::string>& execution_threads) const {
  std::vector<Computation*> order = ComputationPostOrder();
  if (execution_threads.empty()) return order;
  std::erase_if(order, [&](const Computation* computation) {
    const std::string& thread = computation->execution_thread();
    return !execution_threads.contains(thread.empty() ? "main" : thread);
  });
  return order;
}

namespace {

std::vector<Computation*> SortedByContent(std::vector<Computation*> computations) {
  absl::flat_hash_map<const Computation*, uint64_t> hashes;
  for (const Computation* computation : computations) {
    hashes[computation] = HashComputation(*computation);
  }
  std::stable_sort(computations.begin(), computations.end(),
                   [&](const Computation* a, const Computation* b) {
                     return std::make_tuple(a->instruction_count(), hashes[a], a->name()) <
                            std::make_tuple(b->instruction_count(), hashes[b], b->name());
                   });
  return computations;
}

}  // namespace

std::vector<Computation*> Module::MakeComputationSorted() const {
  return SortedByContent(ComputationPostOrder());
}

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

std::vector<Computation*> Module::MakeNonfusionComputationsSorted() const {
  return SortedByContent(MakeNonfusionComputations());
}

}  // namespace assay
