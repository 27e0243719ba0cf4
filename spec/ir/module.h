// A module: a whole program. Computations, one of them the entry, and what the header says; running
// the module is running the entry. Document: hlo-format chapter 1; HloModule document, whose other
// names are functions of spec/ir/hlo_module.h.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "spec/ir/computation.h"
#include "spec/ir/module_config.h"
#include "spec/ir/name_uniquer.h"
#include "spec/ir/schedule.h"

namespace assay {

struct WriteOptions;

// From originals to the copies that CloneComputation made of them.
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
  // Differs from that of every other module of this process, whatever the thread.
  int64_t unique_id() const { return unique_id_; }

  // Stored order.
  absl::Span<Computation* const> computations() const { return computations_; }
  int64_t computation_count() const { return static_cast<int64_t>(computations_.size()); }
  // True if any of its computations has an instruction of one of these ops. Costs no walk: what is
  // interested in a few ops asks this first.
  bool HasAny(absl::Span<const Opcode> opcodes) const;
  Computation* GetComputationWithName(std::string_view name) const;  // nullptr if there is none
  Computation* entry() const { return entry_; }                      // nullptr before there is one
  void set_entry(Computation* entry) { entry_ = entry; }

  // A new empty computation; the first one becomes the entry.
  Computation* AddComputation(std::string_view name);
  // Takes over a computation that belongs to no module (Computation::Create). Its names are made
  // unique and it and its instructions get ids. Its callees must belong to this module.
  enum class Role : uint8_t {
    kEmbedded,
    kEntry,             // the layouts of the config, default ones if there are none
    kEntryWithLayouts,  // the layouts in the config become those of the computation
  };
  absl::StatusOr<Computation*> TakeOver(std::unique_ptr<Computation> computation, Role role);
  // Not called by anyone and not the entry.
  void RemoveComputation(Computation* computation);
  // Removes what the entry does not reach.
  absl::Status RemoveUnusedComputations();
  // Callees before callers.
  std::vector<Computation*> ComputationPostOrder() const;
  // The computations that no fusion calls, in post-order. It is a snapshot: computations may be
  // added and removed while iterating over it.
  std::vector<Computation*> MakeNonfusionComputations() const;
  int64_t InstructionCount() const;
  // The id that the next instruction added will have at least: what is added from now on is told
  // from what was there.
  int64_t next_id() const { return next_id_; }
  int64_t NewUniqueInstructionId() { return next_id_++; }
  // Instructions that call `computation`.
  std::vector<Instruction*> Callers(const Computation* computation) const;

  // Everything, header included; names of instructions and computations are kept, the module's gets
  // "-suffix". The stored order, and with it the schedule, is kept.
  std::unique_ptr<Module> Clone(std::string_view suffix = "clone") const;
  // A clone under another config, but for schedule and aliases, which belong to the module and
  // stay.
  std::unique_ptr<Module> Clone(const ModuleConfig& config,
                                std::string_view suffix = "clone") const;
  // A deep copy of `computation` and all it calls, added to this module under fresh names.
  Computation* CloneComputation(const Computation& computation, std::string_view suffix = "clone",
                                CloneContext* context = nullptr);

  // Gives instructions their names.
  NameUniquer& instruction_name_uniquer() { return names_; }

  // The schedule is the stored order while config().is_scheduled. set_schedule verifies and stores
  // the order; what is changed through the mutable reference counts after set_schedule.
  absl::Status set_schedule(Schedule schedule);
  void clear_schedule();
  bool has_schedule() const { return config_.is_scheduled; }
  const Schedule& schedule() const;  // checked: there is one
  Schedule& schedule();              // checked: there is one

  ModuleAnnotations& annotations() { return annotations_; }
  const ModuleAnnotations& annotations() const { return annotations_; }

  // The next number of a 64-bit Mersenne twister seeded with 42; every module draws the same
  // sequence. May be called from any thread.
  uint64_t RandomNew64() const;

  // 64 bits over structure and values: equal for modules that differ only in names and metadata.
  uint64_t Hash() const;
  // HLO text, in the long form without options.
  std::string ToString() const;
  std::string ToString(const WriteOptions& options) const;

 private:
  friend class Computation;
  struct Random;
  void Forget(Computation* computation);  // that is no longer in the list

  std::string name_;
  ModuleConfig config_;
  int64_t unique_id_;
  std::vector<Computation*> computations_;
  std::array<int64_t, kOpcodeCount> count_of_{};  // instructions by op
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
