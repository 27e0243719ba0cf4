// The members of HloModule by those of Module.
#include "spec/ir/hlo_module.h"

#include <algorithm>
#include <tuple>

#include "spec/base/check.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/ir/hash.h"
#include "spec/ops/shape_checks.h"

namespace assay::hlo_module {
namespace {

bool Holds(const Module& module, const Computation* computation) {
  return computation != nullptr && computation->parent() == &module;
}

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

using InstructionSet = absl::flat_hash_set<const Instruction*>;

// The one of `instructions` that is used outside of them, or the last; an error if they cannot be
// outlined together.
absl::StatusOr<Instruction*> FindOutput(absl::Span<Instruction* const> instructions,
                                        std::string_view name, const Computation* computation) {
  auto error = [&](const auto&... parts) {
    return absl::InvalidArgumentError(StrCat("outlining ", name, ": ", parts...));
  };
  if (instructions.empty()) return error("there are no instructions");
  const InstructionSet members(instructions.begin(), instructions.end());
  if (members.size() != instructions.size()) return error("an instruction is given twice");
  if (members.contains(nullptr)) return error("one of the instructions is null");
  auto inside = [&](const Instruction* other) { return members.contains(other); };
  InstructionSet before;
  Instruction* output = nullptr;
  for (Instruction* instruction : instructions) {
    const std::string& name = instruction->name();
    if (instruction->parent() != computation) return error(name, " is in another computation");
    if (instruction->opcode() == Opcode::kParameter) return error(name, " is a parameter");
    for (const Instruction* operand : instruction->operands()) {
      if (members.contains(operand) && !before.contains(operand)) {
        return error(name, " comes before its operand ", operand->name());
      }
    }
    before.insert(instruction);
    for (auto list : {instruction->control_predecessors(), instruction->control_successors()}) {
      if (!std::all_of(list.begin(), list.end(), inside)) {
        return error(name, " has a control dependency on what stays outside");
      }
    }
    auto users = instruction->users();
    if (computation->root() == instruction || !std::all_of(users.begin(), users.end(), inside)) {
      if (output != nullptr) return error(output->name(), " and ", name, " are both used outside");
      output = instruction;
    }
  }
  return output == nullptr ? instructions.back() : output;
}

}  // namespace

void set_config(HloModule& module, const HloModuleConfig& config) { module.config() = config; }

bool has_entry_computation(const HloModule& module) { return module.entry() != nullptr; }

HloComputation* entry_computation(const HloModule& module) {
  ASSAY_CHECK(module.entry() != nullptr, "the module has no entry computation");
  return module.entry();
}

const Shape& result_shape(const HloModule& module) {
  return entry_computation(module)->root()->shape();
}

HloComputation* mutable_computation(HloModule& module, int64_t index) {
  ASSAY_CHECK(index >= 0 && index < module.computation_count(), "no computation has this index");
  return module.computations()[index];
}

int64_t instruction_count(const HloModule& module) { return module.InstructionCount(); }

absl::StatusOr<HloComputation*> AddEntryComputation(HloModule& module,
                                                    std::unique_ptr<HloComputation> computation) {
  return module.TakeOver(std::move(computation), Module::Role::kEntry);
}

absl::StatusOr<HloComputation*> AddEntryComputationWithLayouts(
    HloModule& module, std::unique_ptr<HloComputation> computation) {
  return module.TakeOver(std::move(computation), Module::Role::kEntryWithLayouts);
}

absl::StatusOr<HloComputation*> AddEmbeddedComputation(
    HloModule& module, std::unique_ptr<HloComputation> computation) {
  return module.TakeOver(std::move(computation), Module::Role::kEmbedded);
}

absl::StatusOr<HloComputation*> AddComputationAndUnifyNamesAndIds(
    HloModule& module, std::unique_ptr<HloComputation> computation, bool is_entry) {
  if (computation != nullptr) {
    computation->ClearUniqueIdInternal();
    for (Instruction* instruction : *computation) instruction->ClearUniqueIdInternal();
  }
  return module.TakeOver(std::move(computation),
                         is_entry ? Module::Role::kEntryWithLayouts : Module::Role::kEmbedded);
}

absl::Status ReplaceEntryComputation(HloModule& module, HloComputation* computation) {
  if (!Holds(module, computation)) {
    return absl::InvalidArgumentError(
        StrCat("the new entry computation is not in module ", module.name()));
  }
  module.set_entry(computation);
  ModuleConfig& config = module.config();
  config.entry_layout = std::make_unique<EntryLayout>(compute_computation_layout(module));
  config.input_output_alias.clear();
  config.buffer_donors.clear();
  return absl::OkStatus();
}

void ReplaceComputations(
    HloModule& module, const absl::flat_hash_map<HloComputation*, HloComputation*>& replacements) {
  for (Computation* computation : module.computations()) {
    for (Instruction* instruction : *computation) {
      for (size_t i = 0; i < instruction->callees().size(); ++i) {
        auto at = replacements.find(instruction->callees()[i]);
        if (at != replacements.end()) {
          instruction->set_callee(static_cast<int64_t>(i), at->second);
        }
      }
    }
  }
  auto at = replacements.find(module.entry());
  if (at != replacements.end()) module.set_entry(at->second);
}

absl::Status RemoveEmbeddedComputation(HloModule& module, HloComputation* computation) {
  if (!Holds(module, computation)) {
    return absl::NotFoundError(
        StrCat("the computation to remove is not in module ", module.name()));
  }
  if (computation == module.entry()) {
    return absl::FailedPreconditionError(StrCat(computation->name(), " is the entry computation"));
  }
  for (const Instruction* caller : module.Callers(computation)) {
    if (caller->parent() == computation) continue;
    return absl::FailedPreconditionError(
        StrCat("computation ", computation->name(), " is called by ", caller->name()));
  }
  module.RemoveComputation(computation);
  return absl::OkStatus();
}

absl::StatusOr<HloInstruction*> OutlineExpressionFromComputation(
    HloModule& module, absl::Span<HloInstruction* const> instructions,
    std::string_view outlined_computation_name, HloComputation* computation) {
  ASSAY_ASSIGN_OR_RETURN(Instruction* const output,
                         FindOutput(instructions, outlined_computation_name, computation));
  Computation* outlined = module.AddComputation(outlined_computation_name);
  if (module.entry() == outlined) module.set_entry(nullptr);
  absl::flat_hash_map<const Instruction*, Instruction*> inner;
  OperandVector arguments;
  for (Instruction* original : instructions) {
    OperandVector operands;
    for (Instruction* operand : original->operands()) {
      auto [at, is_new] = inner.try_emplace(operand, nullptr);
      if (is_new) {
        at->second = outlined->AddParameter(static_cast<int64_t>(arguments.size()),
                                            operand->shape(), operand->name());
        arguments.push_back(operand);
      }
      operands.push_back(at->second);
    }
    Instruction* copy =
        outlined->Add(original->opcode(), original->shape(), operands, original->attributes(),
                      original->callees(), original->name());
    copy->set_literal(original->shared_literal());
    inner[original] = copy;
    for (Instruction* predecessor : original->control_predecessors()) {
      copy->AddControlPredecessor(inner.at(predecessor));
    }
  }
  outlined->set_root(inner.at(output));
  Instruction* call = computation->Add(Opcode::kCall, output->shape(), arguments, {},
                                       absl::MakeConstSpan(&outlined, 1), "call");
  computation->MoveBefore(call, output);
  output->ReplaceAllUsesWith(call);
  for (size_t i = instructions.size(); i-- > 0;) computation->Remove(instructions[i]);
  return call;
}

HloComputation* DeepCloneComputation(HloModule& module, HloComputation* computation,
                                     HloCloneContext* context) {
  return module.CloneComputation(*computation, "clone", context);
}

void Cleanup(HloModule& module) {
  for (Computation* computation : module.computations()) computation->Cleanup();
}

absl::Status CheckUniqueNamesAndIdsForComputationsAndInstructions(const HloModule& module) {
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
  for (const Computation* computation : module.computations()) {
    ASSAY_RETURN_IF_ERROR(check("computation", computation->name(), computation->id(),
                                computation_names, computation_ids));
    for (const Instruction* instruction : *computation) {
      ASSAY_RETURN_IF_ERROR(
          check("instruction", instruction->name(), instruction->id(), names, ids));
    }
  }
  return absl::OkStatus();
}

std::vector<HloComputation*> MakeComputationPostOrder(const HloModule& module) {
  return module.ComputationPostOrder();
}

std::vector<HloComputation*> MakeComputationPostOrder(
    const HloModule& module, const absl::flat_hash_set<std::string>& execution_threads) {
  std::vector<Computation*> order = module.ComputationPostOrder();
  if (execution_threads.empty()) return order;
  std::erase_if(order, [&](const Computation* computation) {
    const std::string& thread = computation->execution_thread();
    return !execution_threads.contains(thread.empty() ? "main" : thread);
  });
  return order;
}

std::vector<HloComputation*> MakeComputationSorted(const HloModule& module) {
  return SortedByContent(module.ComputationPostOrder());
}

std::vector<HloComputation*> MakeNonfusionComputationsSorted(const HloModule& module) {
  return SortedByContent(module.MakeNonfusionComputations());
}

ComputationLayout compute_computation_layout(const HloModule& module) {
  return EntryLayout(entry_computation(module)->ComputeProgramShape(), /*ignore_layouts=*/false);
}

const ComputationLayout& entry_computation_layout(const HloModule& module) {
  ASSAY_CHECK(module.config().entry_layout != nullptr,
              "the config has no entry computation layout");
  return *module.config().entry_layout;
}

ComputationLayout* mutable_entry_computation_layout(HloModule& module) {
  std::unique_ptr<EntryLayout>& layout = module.config().entry_layout;
  if (layout == nullptr) layout = std::make_unique<EntryLayout>(compute_computation_layout(module));
  return layout.get();
}

HloInputOutputAliasConfig& input_output_alias_config(HloModule& module) {
  return module.config().input_output_alias;
}

const HloInputOutputAliasConfig& input_output_alias_config(const HloModule& module) {
  return module.config().input_output_alias;
}

DynamicParameterBinding& dynamic_parameter_binding(HloModule& module) {
  return module.annotations().dynamic_parameter_binding;
}

const DynamicParameterBinding& dynamic_parameter_binding(const HloModule& module) {
  return module.annotations().dynamic_parameter_binding;
}

bool has_spmd_parameters_shardings(const HloModule& module) {
  return module.annotations().spmd_parameters_shardings.has_value();
}

const std::vector<HloSharding>& spmd_parameters_shardings(const HloModule& module) {
  ASSAY_CHECK(has_spmd_parameters_shardings(module),
              "set_spmd_parameters_shardings was not called");
  return *module.annotations().spmd_parameters_shardings;
}

void set_spmd_parameters_shardings(HloModule& module, const std::vector<HloSharding>& shardings) {
  module.annotations().spmd_parameters_shardings = shardings;
}

bool has_spmd_output_sharding(const HloModule& module) {
  return module.annotations().spmd_output_sharding.has_value();
}

const HloSharding& spmd_output_sharding(const HloModule& module) {
  ASSAY_CHECK(has_spmd_output_sharding(module), "set_spmd_output_sharding was not called");
  return *module.annotations().spmd_output_sharding;
}

void set_spmd_output_sharding(HloModule& module, const HloSharding& sharding) {
  module.annotations().spmd_output_sharding = sharding;
}

void AddCrossProgramPrefetch(HloModule& module, int64_t parameter, const ShapeIndex& index) {
  module.annotations().cross_program_prefetches.emplace_back(parameter, index);
}

absl::Span<const std::pair<int64_t, ShapeIndex>> CrossProgramPrefetches(const HloModule& module) {
  return module.annotations().cross_program_prefetches;
}

absl::StatusOr<HloModuleConfig> CreateModuleConfigFromShape(
    const ProgramShape& program_shape, const DebugOptions& debug_options,
    const ExecutionOptions* execution_options) {
  for (const Shape& parameter : program_shape.parameters) {
    ASSAY_RETURN_IF_ERROR(CheckShape(parameter));
  }
  ASSAY_RETURN_IF_ERROR(CheckShape(program_shape.result));
  ModuleConfig config;
  config.entry_layout = std::make_unique<EntryLayout>(program_shape, /*ignore_layouts=*/false);
  config.debug_options = debug_options;
  if (execution_options == nullptr) return config;
  if (execution_options->num_replicas < 1 || execution_options->num_partitions < 1) {
    return absl::InvalidArgumentError(StrCat("there are ", execution_options->num_replicas,
                                             " replicas and ", execution_options->num_partitions,
                                             " partitions, want at least one of each"));
  }
  config.seed = execution_options->seed;
  config.replica_count = execution_options->num_replicas;
  config.num_partitions = execution_options->num_partitions;
  config.alias_passthrough_params = execution_options->alias_passthrough_params;
  if (execution_options->shape_with_output_layout.has_value()) {
    const Shape& result = *execution_options->shape_with_output_layout;
    if (!Compatible(result, program_shape.result)) {
      return absl::InvalidArgumentError(StrCat("the output layout is of the shape ",
                                               result.ToString(), ", the result is ",
                                               program_shape.result.ToString()));
    }
    config.entry_layout->result = result;
  }
  // Options of the execution win over those of the module.
  for (const auto& [name, value] : execution_options->debug_options.flags) {
    config.debug_options.flags[name] = value;
  }
  return config;
}

HloInstruction* root_instruction(const HloComputation& computation) { return computation.root(); }

void set_root_instruction(HloComputation& computation, HloInstruction* root) {
  computation.set_root(root);
}

}  // namespace assay::hlo_module
