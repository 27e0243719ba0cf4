// The oracle's interpreter: one value per instruction, operands before users, nothing clever.
// Documents: operation semantics (meaning of every op), design "Tolerances are derived, not
// guessed" (bounds).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "reference/interpreter/machine.h"
#include "reference/scalar/random_bits.h"
#include "reference/values/op_evaluations.h"
#include "reference/values/value.h"
#include "spec/backend/backend.h"
#include "spec/backend/oracle.h"

namespace assay::reference {

// What one run may use up.
class Budget {
 public:
  explicit Budget(const Limits& limits);
  // Takes `steps` element evaluations; timeout when there are none left or the time is over.
  absl::Status Take(int64_t steps);
  MemoryMeter& memory() { return memory_; }
  int64_t steps_taken() const { return limits_.steps - steps_left_; }

 private:
  Limits limits_;
  MemoryMeter memory_;
  int64_t steps_left_;
  int64_t next_clock_check_ = 0;
  std::chrono::steady_clock::time_point deadline_;
};

// The instructions of a computation that its root needs or that have effects, in order, with the
// places of their operands.
struct Plan {
  struct Step {
    const Instruction* instruction;
    const OpEvaluation* evaluation;
    absl::InlinedVector<int, 3> operands;    // step numbers
    absl::InlinedVector<int, 3> dead_after;  // values whose last user this is
    Rewrites rewrites;
    bool may_feed_sum = true;  // an addition may read the result, moved or scaled on the way
    Value constant;            // of a constant instruction
  };
  const Computation* computation;
  std::vector<Step> steps;
  size_t root = 0;  // its step
  // Parameters to take scalars only, ops element by element: it can be applied to arrays at once.
  bool liftable = false;
};

// The plans of a module's computations; the devices of a machine share them.
struct Plans {
  absl::flat_hash_map<const Computation*, std::unique_ptr<Plan>> plans;
  // Computations with side effects, or that call such; filled at the first look.
  absl::flat_hash_map<const Computation*, bool> effects;
  InliningCallers inlining_callers;  // likewise
  const Module* module = nullptr;
};

class Interpreter {
 public:
  // `profile` nullptr: plain evaluation. On the only device of a machine of its own.
  Interpreter(Budget& budget, const Profile* profile);
  ~Interpreter();
  // On `device`, whose machine outlives the interpreter.
  Interpreter(Budget& budget, const Profile* profile, Device& device, std::shared_ptr<Plans> plans);

  absl::StatusOr<Value> Run(const Computation& computation, absl::Span<const Value> arguments);
  // Applies a computation on scalars to arrays of `dimensions`, element by element. Only when
  // CanLift says so.
  absl::StatusOr<Value> RunLifted(const Computation& computation, absl::Span<const Value> arguments,
                                  absl::Span<const int64_t> dimensions);
  absl::StatusOr<bool> CanLift(const Computation& computation);

  bool bounding() const { return profile_ != nullptr; }
  const Freedoms& freedoms() const { return freedoms_; }
  Budget& budget() { return budget_; }
  MemoryMeter& memory() { return budget_.memory(); }
  Device& device();
  // Whether running the computation does more than to compute its result.
  bool HasEffects(const Computation& computation);

  // What rng and rng-get-and-update-state draw from.
  HiddenStream& random() { return random_; }
  // The state before it is advanced by `delta`.
  unsigned __int128 AdvanceRandomState(uint64_t delta) {
    return std::exchange(random_state_, random_state_ + delta);
  }

  // Loops at work of which it is unclear whether they still run.
  int& unclear_loops() { return unclear_loops_; }

  // Evaluates with liberties (reference/bounds/liberties.h) instead of plainly; they outlive the
  // interpreter.
  void set_liberties(Liberties* liberties) {
    freedoms_.liberties = without_contraction_.liberties = liberties;
    freedoms_.xla_budgets = without_contraction_.xla_budgets = true;
  }
  // Calls `watch` with every result but those of parameters and constants.
  void set_watch(std::function<void(const Instruction&, const Value&)> watch) {
    watch_ = std::move(watch);
  }

  // Evaluates `op` by its row and, in bound mode, bounds it.
  absl::StatusOr<Value> Apply(const OpEvaluation& row, const OpContext& op);

 private:
  absl::StatusOr<const Plan*> PlanOf(const Computation& computation);
  absl::StatusOr<Value> RunPlan(const Plan& plan, absl::Span<const Value> arguments,
                                const absl::Span<const int64_t>* lifted);

  Budget& budget_;
  const Profile* profile_;
  Freedoms freedoms_;
  std::unique_ptr<ErrorNumbers> errors_;
  Freedoms without_contraction_;  // of products that no addition reads
  std::shared_ptr<Plans> plans_;
  Device* device_ = nullptr;
  std::unique_ptr<Machine> own_machine_;
  int depth_ = 0;
  std::function<void(const Instruction&, const Value&)> watch_;
  int unclear_loops_ = 0;
  HiddenStream random_;
  unsigned __int128 random_state_ = 0;
};

// A status that ends a bound analysis without a verdict: an undecided loop condition and the like.
absl::Status Inconclusive(std::string_view reason);
bool IsInconclusive(const absl::Status& status);

}  // namespace assay::reference

namespace assay {

std::unique_ptr<Oracle> MakeOracle();
// The oracle as a backend, "reference".
void RegisterReference(BackendRegistry& registry);

}  // namespace assay
