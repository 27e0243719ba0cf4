// The names of the HloModule document for those of this folder: its classes, and as functions the
// members of HloModule and HloComputation that Module and Computation do not have under the same
// name. spec/proto/hlo_module_proto.h has those of the binary form.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "spec/ir/module.h"

namespace assay {

using HloModule = Module;
using HloComputation = Computation;
using HloInstruction = Instruction;
using HloModuleConfig = ModuleConfig;
using HloCloneContext = CloneContext;
using HloSchedule = Schedule;
using HloInputOutputAliasConfig = InputOutputAliasConfig;
using HloSharding = Sharding;
using HloPrintOptions = WriteOptions;  // spec/text/writer.h completes the type
using ComputationLayout = EntryLayout;

namespace hlo_module {

void set_config(HloModule& module, const HloModuleConfig& config);

bool has_entry_computation(const HloModule& module);
HloComputation* entry_computation(const HloModule& module);  // checked: there is one
const Shape& result_shape(const HloModule& module);  // of the entry's root, which is checked
HloComputation* mutable_computation(HloModule& module, int64_t index);  // checked
int64_t instruction_count(const HloModule& module);

// A computation that belongs to no module (HloComputation::Create) becomes part of this one under
// unique names and ids. Its callees must be in the module.
// The entry's layouts in the config: default ones if there are none.
absl::StatusOr<HloComputation*> AddEntryComputation(HloModule& module,
                                                    std::unique_ptr<HloComputation> computation);
// The entry's layouts in the config become those of the computation.
absl::StatusOr<HloComputation*> AddEntryComputationWithLayouts(
    HloModule& module, std::unique_ptr<HloComputation> computation);
absl::StatusOr<HloComputation*> AddEmbeddedComputation(HloModule& module,
                                                       std::unique_ptr<HloComputation> computation);
// Clears the ids that the computation and its instructions have from elsewhere first. An entry
// brings its layouts.
absl::StatusOr<HloComputation*> AddComputationAndUnifyNamesAndIds(
    HloModule& module, std::unique_ptr<HloComputation> computation, bool is_entry);
// `computation` must be in the module. Layouts and aliases of the old entry are dropped.
absl::Status ReplaceEntryComputation(HloModule& module, HloComputation* computation);
// Replaces all uses of the keys, as callees and as entry, by the values. The keys stay in the
// module until RemoveUnusedComputations.
void ReplaceComputations(HloModule& module,
                         const absl::flat_hash_map<HloComputation*, HloComputation*>& replacements);
// An error for a computation that is absent, the entry, or called.
absl::Status RemoveEmbeddedComputation(HloModule& module, HloComputation* computation);
// Moves `instructions`, in topological order, into a new computation; a call of it takes the place
// of the one value that is used outside. Returns the call.
absl::StatusOr<HloInstruction*> OutlineExpressionFromComputation(
    HloModule& module, absl::Span<HloInstruction* const> instructions,
    std::string_view outlined_computation_name, HloComputation* computation);
// A deep copy of `computation` and all it calls, in this module under fresh names.
HloComputation* DeepCloneComputation(HloModule& module, HloComputation* computation,
                                     HloCloneContext* context = nullptr);
// Frees what HloComputation::RemoveInstruction took out, in every computation.
void Cleanup(HloModule& module);
// No two computations, and no two instructions, share a name or an id, and none lacks one.
absl::Status CheckUniqueNamesAndIdsForComputationsAndInstructions(const HloModule& module);

// Callees before callers.
std::vector<HloComputation*> MakeComputationPostOrder(const HloModule& module);
// Only those of the named execution threads; none named: all.
std::vector<HloComputation*> MakeComputationPostOrder(
    const HloModule& module, const absl::flat_hash_set<std::string>& execution_threads);
// All computations, or those that no fusion calls, sorted by content, whatever their names and
// stored order.
std::vector<HloComputation*> MakeComputationSorted(const HloModule& module);
std::vector<HloComputation*> MakeNonfusionComputationsSorted(const HloModule& module);

// The entry's layouts: as its instructions have them now; as the config says (checked: it does);
// the config's, made from the entry if it says nothing.
ComputationLayout compute_computation_layout(const HloModule& module);
const ComputationLayout& entry_computation_layout(const HloModule& module);
ComputationLayout* mutable_entry_computation_layout(HloModule& module);

HloInputOutputAliasConfig& input_output_alias_config(HloModule& module);
const HloInputOutputAliasConfig& input_output_alias_config(const HloModule& module);
DynamicParameterBinding& dynamic_parameter_binding(HloModule& module);
const DynamicParameterBinding& dynamic_parameter_binding(const HloModule& module);
bool has_spmd_parameters_shardings(const HloModule& module);
const std::vector<HloSharding>& spmd_parameters_shardings(const HloModule& module);  // checked: set
void set_spmd_parameters_shardings(HloModule& module, const std::vector<HloSharding>& shardings);
bool has_spmd_output_sharding(const HloModule& module);
const HloSharding& spmd_output_sharding(const HloModule& module);  // checked: set
void set_spmd_output_sharding(HloModule& module, const HloSharding& sharding);
void AddCrossProgramPrefetch(HloModule& module, int64_t parameter, const ShapeIndex& index);
absl::Span<const std::pair<int64_t, ShapeIndex>> CrossProgramPrefetches(const HloModule& module);

// The config of a module of this shape, with its layouts. Null options stand for their defaults.
absl::StatusOr<HloModuleConfig> CreateModuleConfigFromShape(
    const ProgramShape& program_shape, const DebugOptions& debug_options,
    const ExecutionOptions* execution_options = nullptr);

HloInstruction* root_instruction(const HloComputation& computation);
void set_root_instruction(HloComputation& computation, HloInstruction* root);

}  // namespace hlo_module

}  // namespace assay
