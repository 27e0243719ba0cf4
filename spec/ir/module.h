// A module: a whole program. Computations, one of them the entry, and what the header says; running
// the module is running the entry. Document: hlo-format chapter 1; HloModule document, whose member
// names are all here (spec/ir/hlo.h has its class names).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "spec/ir/computation.h"
#include "spec/ir/module_config.h"
#include "spec/ir/name_uniquer.h"
#include "spec/ir/schedule.h"

namespace assay {

struct WriteOptions;
namespace proto {
class HloModuleProto;
}

// What DeepCloneComputation and Clone made of what.
struct CloneContext {
  absl::flat_hash_map<const Computation*, Computation*> computations;
  absl::flat_hash_map<const Instruction*, Instruction*> instructions;
};

class Module {
 public:
  explicit Module(std::string name);
  // For use outside a service: there is no versioned computation handle, by which a service would
  // find the module in its compilation cache.
  Module(std::string name, ModuleConfig config);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  ModuleConfig& config() { return config_; }
  const ModuleConfig& config() const { return config_; }
  void set_config(const ModuleConfig& config) { config_ = config; }
  // Differs from that of every other module of this process, whatever the thread.
  int64_t unique_id() const { return unique_id_; }

  // Stored order.
  absl::Span<Computation* const> computations() const { return computations_; }
  int64_t computation_count() const { return static_cast<int64_t>(computations_.size()); }
  Computation* mutable_computation(int64_t index);                   // checked
  Computation* GetComputationWithName(std::string_view name) const;  // nullptr if there is none
  Computation* entry() const { return entry_; }
  void set_entry(Computation* entry) { entry_ = entry; }
  bool has_entry_computation() const { return entry_ != nullptr; }
  Computation* entry_computation() const;  // checked: there is one
  const Shape& result_shape() const;       // of the entry's root

  // A new empty computation; the first one becomes the entry.
  Computation* AddComputation(std::string_view name);
  // Take over a computation that belongs to no module (Computation::Create). Its names are made
  // unique and its instructions get ids. Its callees must belong to this module.
  // The entry's layouts in the config: default ones if there are none.
  absl::StatusOr<Computation*> AddEntryComputation(std::unique_ptr<Computation> computation);
  // The entry's layouts in the config become those of the computation.
  absl::StatusOr<Computation*> AddEntryComputationWithLayouts(
      std::unique_ptr<Computation> computation);
  absl::StatusOr<Computation*> AddEmbeddedComputation(std::unique_ptr<Computation> computation);
  // Clears the ids that the computation and its instructions have from elsewhere, then adds it with
  // unique names and ids; an entry brings its layouts.
  absl::StatusOr<Computation*> AddComputationAndUnifyNamesAndIds(
      std::unique_ptr<Computation> computation, bool is_entry);
  // `computation` must be in this module. Layouts and aliases of the old entry are dropped.
  absl::Status ReplaceEntryComputation(Computation* computation);
  // Replaces all uses of the keys, as callees and as entry, by the values. The keys stay in the
  // module until RemoveUnusedComputations.
  void ReplaceComputations(const absl::flat_hash_map<Computation*, Computation*>& replacements);
  // Not called by anyone and not the entry.
  void RemoveComputation(Computation* computation);
  // The same with errors for a computation that is absent, the entry, or called.
  absl::Status RemoveEmbeddedComputation(Computation* computation);
  // Removes what the entry does not reach.
  absl::Status RemoveUnusedComputations();
  // Moves `instructions`, in topological order, into a new computation; a call of it takes the
  // place of the one value that is used outside. Returns the call.
  absl::StatusOr<Instruction*> OutlineExpressionFromComputation(
      absl::Span<Instruction* const> instructions, std::string_view outlined_computation_name,
      Computation* computation);

  // Callees before callers.
  std::vector<Computation*> ComputationPostOrder() const;
  std::vector<Computation*> MakeComputationPostOrder() const { return ComputationPostOrder(); }
  // Only those of the named execution threads; none named: all.
  std::vector<Computation*> MakeComputationPostOrder(
      const absl::flat_hash_set<std::string>& execution_threads) const;
  // The same computations sorted by content, whatever their names and stored order.
  std::vector<Computation*> MakeComputationSorted() const;
  // Those that no fusion calls, in post-order or by content. A snapshot: computations may be added
  // and removed while iterating over it.
  std::vector<Computation*> MakeNonfusionComputations() const;
  std::vector<Computation*> MakeNonfusionComputationsSorted() const;
  int64_t InstructionCount() const;
  int64_t instruction_count() const { return InstructionCount(); }
  // The id that the next instruction added will have at least: what is added from now on is told
  // from what was there.
  int64_t next_id() const { return next_id_; }
  int64_t NewUniqueInstructionId() { return next_id_++; }
  // Instructions that call `computation`.
  std::vector<Instruction*> Callers(const Computation* computation) const;
  // Frees what Computation::RemoveInstruction took out, in every computation.
  void Cleanup();
  // No two computations, and no two instructions, share a name or an id, and none lacks one.
  absl::Status CheckUniqueNamesAndIdsForComputationsAndInstructions() const;

  // Everything, header included; names of instructions and computations are kept, the module's gets
  // "-suffix". The stored order, and with it the schedule, is kept.
  std::unique_ptr<Module> Clone(std::string_view suffix = "clone") const;
  // The same under another config; schedule and aliases belong to the module and stay.
  std::unique_ptr<Module> Clone(const ModuleConfig& config,
                                std::string_view suffix = "clone") const;
  // A deep copy of `computation` and all it calls, added to this module under fresh names.
  Computation* CloneComputation(const Computation& computation, std::string_view suffix = "clone",
                                CloneContext* context = nullptr);
  Computation* DeepCloneComputation(Computation* computation, CloneContext* context = nullptr) {
    return CloneComputation(*computation, "clone", context);
  }

  // A name for an instruction: `base` itself if free, else base.1, base.2, ...; the result is
  // taken.
  std::string UniqueName(std::string_view base) { return names_.GetUniqueName(base); }
  NameUniquer& instruction_name_uniquer() { return names_; }

  // The entry's layouts: as its instructions have them now; as the config says (checked: it does);
  // the config's, made from the entry if it says nothing.
  EntryLayout compute_computation_layout() const;
  const EntryLayout& entry_computation_layout() const;
  EntryLayout* mutable_entry_computation_layout();

  InputOutputAliasConfig& input_output_alias_config() { return config_.input_output_alias; }
  const InputOutputAliasConfig& input_output_alias_config() const {
    return config_.input_output_alias;
  }

  // The schedule is the stored order while config().is_scheduled. set_schedule verifies and stores
  // the order; what is changed through the mutable reference counts after set_schedule.
  absl::Status set_schedule(Schedule schedule);
  void clear_schedule();
  bool has_schedule() const { return config_.is_scheduled; }
  const Schedule& schedule() const;  // checked: there is one
  Schedule& schedule();              // checked: there is one

  ModuleAnnotations& annotations() { return annotations_; }
  const ModuleAnnotations& annotations() const { return annotations_; }
  DynamicParameterBinding& dynamic_parameter_binding() {
    return annotations_.dynamic_parameter_binding;
  }
  const DynamicParameterBinding& dynamic_parameter_binding() const {
    return annotations_.dynamic_parameter_binding;
  }
  bool has_spmd_parameters_shardings() const {
    return annotations_.spmd_parameters_shardings.has_value();
  }
  const std::vector<Sharding>& spmd_parameters_shardings() const;  // checked: set
  void set_spmd_parameters_shardings(const std::vector<Sharding>& shardings);
  bool has_spmd_output_sharding() const { return annotations_.spmd_output_sharding.has_value(); }
  const Sharding& spmd_output_sharding() const;  // checked: set
  void set_spmd_output_sharding(const Sharding& sharding);
  void AddCrossProgramPrefetch(int64_t parameter, const ShapeIndex& index);
  absl::Span<const std::pair<int64_t, ShapeIndex>> CrossProgramPrefetches() const {
    return annotations_.cross_program_prefetches;
  }

  // The same sequence for every module: a 64-bit Mersenne twister seeded with 42. Any thread.
  uint64_t RandomNew64() const;

  // 64 bits over structure and values: equal for modules that differ only in names and metadata.
  uint64_t Hash() const;
  // HLO text, in the long form without options.
  std::string ToString() const;
  std::string ToString(const WriteOptions& options) const;

  // The binary form (spec/proto/module_proto.h, whose hlo.pb.h completes the type). A module that
  // has no binary form, such as one with an unreadable sharding, is an error there; here it ends
  // the program.
  proto::HloModuleProto ToProto() const;
  // `prohibit_empty_literal`: a constant without a value is an error.
  static absl::StatusOr<std::unique_ptr<Module>> CreateFromProto(
      const proto::HloModuleProto& proto, const ModuleConfig& config,
      bool prohibit_empty_literal = true);
  static absl::StatusOr<ModuleConfig> CreateModuleConfigFromProto(
      const proto::HloModuleProto& proto, const DebugOptions& debug_options,
      const ExecutionOptions* execution_options = nullptr);
  static absl::StatusOr<ModuleConfig> CreateModuleConfigFromShape(
      const ProgramShape& program_shape, const DebugOptions& debug_options,
      const ExecutionOptions* execution_options = nullptr);

 private:
  friend class Computation;
  struct Random;
  absl::StatusOr<Computation*> AddComputationInternal(std::unique_ptr<Computation> computation,
                                                      bool is_entry, bool uniquify_identifiers,
                                                      bool preserve_entry_layouts);

  std::string name_;
  ModuleConfig config_;
  int64_t unique_id_;
  std::vector<Computation*> computations_;
  Computation* entry_ = nullptr;
  int64_t next_id_ = 0;
  int64_t next_computation_id_ = 0;
  // Instructions and computations are named apart, as in XLA: text has both called "round.1".
  NameUniquer names_, computation_names_;
  ModuleAnnotations annotations_;
  mutable std::unique_ptr<Schedule> schedule_;  // made from the stored order on demand
  std::unique_ptr<Random> random_;
};

}  // namespace assay
