// A module: computations, one of them the entry, and what the header says. Document: hlo-format
// chapter 1; HloModule document.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "spec/ir/computation.h"

namespace assay {

struct InputOutputAlias {
  Int64List output_index;
  int64_t parameter = 0;
  Int64List parameter_index;
  bool must_alias = false;
  bool operator==(const InputOutputAlias&) const = default;
};
struct BufferDonor {
  int64_t parameter = 0;
  Int64List parameter_index;
  bool operator==(const BufferDonor&) const = default;
};
// Parameter and result shapes with the layouts that the caller sees.
struct EntryLayout {
  std::vector<Shape> parameters;
  Shape result;
  bool operator==(const EntryLayout&) const = default;
};

struct ModuleConfig {
  bool is_scheduled =
      false;  // stored instruction order is the schedule of every non-fusion computation
  std::vector<InputOutputAlias> input_output_alias;
  std::vector<BufferDonor> buffer_donors;
  bool alias_passthrough_params = false;
  std::unique_ptr<EntryLayout> entry_layout;  // nullptr: as the entry's parameters and root
  int64_t replica_count = 1;
  int64_t num_partitions = 1;
  // Kept as written: (attribute name, text of the value), and the stack frame tables between header
  // and computations.
  std::vector<std::pair<std::string, std::string>> verbatim;
  std::string stack_tables;

  ModuleConfig() = default;
  ModuleConfig(const ModuleConfig& other);
  ModuleConfig& operator=(const ModuleConfig& other);
};

class Module {
 public:
  explicit Module(std::string name) : name_(std::move(name)) {}
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  ModuleConfig& config() { return config_; }
  const ModuleConfig& config() const { return config_; }

  // Stored order.
  absl::Span<Computation* const> computations() const { return computations_; }
  Computation* entry() const { return entry_; }
  void set_entry(Computation* entry) { entry_ = entry; }
  Computation* AddComputation(std::string_view name);
  // Not called by anyone and not the entry.
  void RemoveComputation(Computation* computation);
  void RemoveUnusedComputations();

  // Callees before callers.
  std::vector<Computation*> ComputationPostOrder() const;
  int64_t InstructionCount() const;
  // The id that the next instruction added will have at least: what is added from now on is told
  // from what was there.
  int64_t next_id() const { return next_id_; }
  // Instructions that call `computation`.
  std::vector<Instruction*> Callers(const Computation* computation) const;

  // Everything, header included; names are kept.
  std::unique_ptr<Module> Clone() const;
  // A deep copy of `computation` and all it calls, added to this module under fresh names.
  Computation* CloneComputation(const Computation& computation, std::string_view suffix = "clone");

  // A name for an instruction: `base` itself if free, else base.1, base.2, ...; the result is
  // taken.
  std::string UniqueName(std::string_view base);

  // 64 bits over structure and values: equal for modules that differ only in names and metadata.
  uint64_t Hash() const;
  // HLO text in the long form.
  std::string ToString() const;

 private:
  friend class Computation;
  std::string UniqueIn(absl::flat_hash_set<std::string>& names, std::string_view base);

  std::string name_;
  ModuleConfig config_;
  std::vector<Computation*> computations_;
  Computation* entry_ = nullptr;
  int64_t next_id_ = 0;
  // Instructions and computations are named apart, as in XLA: text has both called "round.1".
  absl::flat_hash_set<std::string> names_, computation_names_;
  absl::flat_hash_map<std::string, int64_t> next_suffix_;
};

}  // namespace assay
