// The oracle's interpreter: it runs the plan of a computation step by step, operands before users,
// and holds one value per instruction until its last user has run. Two things make it fast on big
// arrays: in bound mode element-wise steps may run together, a block of elements at a time
// (blockwise.h), and a computation on scalars may run once on whole arrays (RunLifted).
// Documents: operation semantics (meaning of every op), design "Tolerances are derived, not
// guessed" (bounds).
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "reference/interpreter/budget.h"
#include "reference/interpreter/custom_call_functions.h"
#include "reference/interpreter/errors.h"
#include "reference/interpreter/mesh/device_mesh.h"
#include "reference/interpreter/plan.h"
#include "reference/scalar/random_bits.h"
#include "reference/values/op_context.h"
#include "reference/values/value.h"
#include "spec/backend/backend.h"
#include "spec/backend/oracle.h"

namespace assay::reference {

class CapturedRun;

class Interpreter {
 public:
  // `profile` nullptr: plain evaluation. Runs on the only device of a mesh of its own.
  Interpreter(Budget& budget, const Profile* profile);
  ~Interpreter();
  // On `device`, whose mesh outlives the interpreter.
  Interpreter(Budget& budget, const Profile* profile, Device& device, std::shared_ptr<Plans> plans);

  absl::StatusOr<Value> Run(const Computation& computation, absl::Span<const Value> arguments);
  // Applies a computation on scalars to arrays of `dimensions`, element by element. Only when
  // CanLift says so.
  absl::StatusOr<Value> RunLifted(const Computation& computation, absl::Span<const Value> arguments,
                                  absl::Span<const int64_t> dimensions);
  absl::StatusOr<bool> CanLift(const Computation& computation);

  bool bounding() const { return profile_ != nullptr; }
  // The clauses that the profile grants; none in plain evaluation.
  ClauseSet clauses() const { return clauses_; }
  const Analysis& analysis() const { return analysis_; }
  Budget& budget() { return budget_; }
  MemoryMeter& memory() { return budget_.memory(); }
  Device& device();
  // True if running the computation does more than to compute its result.
  bool HasEffects(const Computation& computation) { return plans_->HasEffects(computation); }

  // The stream that rng and rng-get-and-update-state draw from.
  HiddenStream& random() { return random_; }
  // The state before it is advanced by `delta`.
  unsigned __int128 AdvanceRandomState(uint64_t delta) {
    return std::exchange(random_state_, random_state_ + delta);
  }

  // Loops at work of which it is unclear whether they still run.
  int& unclear_loops() { return unclear_loops_; }

  // Takes legal choices (reference/bounds/choices/legal_choices.h) instead of plain values; they
  // outlive the interpreter.
  void set_choices(LegalChoices* choices) {
    analysis_.choices = choices;
    analysis_.is_xla = true;
  }
  // From now on the errors of a run in bound mode are the choices, under their numbers.
  void FollowErrorsOf(const LegalChoices& choices);
  // Calls `watch` with every result but those of parameters and constants.
  void set_watch(std::function<void(const Instruction&, const Value&)> watch) {
    watch_ = std::move(watch);
  }
  // The functions that custom calls run by name; they outlive the interpreter.
  void set_custom_calls(const CustomCallFunctions* functions) { custom_calls_ = functions; }
  // The function of a target; nullptr if there is none.
  CustomCallFunction custom_call(const std::string& target) const;

  // Goes on from captured values (captured_run.h), which outlive the interpreter; before it runs.
  void set_captured(CapturedRun* captured);
  // nullptr if there are none.
  CapturedRun* captured() { return captured_; }

  // Evaluates `op` and, in bound mode, bounds it.
  absl::StatusOr<Value> Apply(const Evaluation& how, const OpContext& op);
  // Does so in the way that the plan has chosen for a step, of which `op` is.
  absl::StatusOr<Value> Evaluate(const Plan::Step& step, const OpContext& op);

 private:
  struct Execution;
  using Operands = absl::InlinedVector<const Value*, 4>;
  absl::StatusOr<const Plan*> PlanOf(const Computation& computation) {
    return plans_->PlanOf(computation, memory());
  }
  absl::Status Enter();
  // With `lanes`, a computation on scalars for arrays of those dimensions.
  absl::StatusOr<Value> RunPlan(const Plan& plan, absl::Span<const Value> arguments,
                                std::optional<absl::Span<const int64_t>> lanes);
  absl::StatusOr<size_t> RunBlocks(Execution& execution, size_t first);
  absl::StatusOr<Value> EvaluateSeen(const Plan::Step& step,
                                     absl::Span<const Value* const> operands);
  absl::StatusOr<Value> EvaluateLifted(const Plan::Step& step,
                                       absl::Span<const Value* const> operands,
                                       absl::Span<const int64_t> lanes);
  OpContext ContextOf(const Plan::Step& step, const Shape& shape,
                      absl::Span<const Value* const> operands) const;
  absl::StatusOr<Value> ApplyRow(const Evaluation& how, const OpContext& op);
  absl::StatusOr<Value> ApplyOnce(const Evaluation& how, const OpContext& op);
  // The op on subnormal numbers that are flushed, and its result likewise.
  absl::StatusOr<Value> ApplyFlushed(const Evaluation& how, const OpContext& op);
  absl::Status BoundResult(const OpEvaluation& row, const OpContext& op, Array& result);
  void Finish(Execution& execution, size_t number, Value value);

  Budget& budget_;
  const Profile* profile_;
  const ClauseSet clauses_;
  std::unique_ptr<ErrorNumbers> errors_;
  Analysis analysis_;
  std::shared_ptr<Plans> plans_;
  Device* device_ = nullptr;
  std::unique_ptr<DeviceMesh> own_mesh_;
  int depth_ = 0;
  std::function<void(const Instruction&, const Value&)> watch_;
  const CustomCallFunctions* custom_calls_ = nullptr;
  CapturedRun* captured_ = nullptr;
  int unclear_loops_ = 0;
  HiddenStream random_;
  unsigned __int128 random_state_ = 0;
};

}  // namespace assay::reference

namespace assay {

std::unique_ptr<Oracle> MakeOracle();
// Custom calls whose targets are names in `custom_calls` run those functions.
std::unique_ptr<Oracle> MakeOracle(CustomCallFunctions custom_calls);
// Without a meaning for calls of libraries (reference/custom_calls/library_calls.h).
std::unique_ptr<Oracle> MakeInterpreterOracle(CustomCallFunctions custom_calls);
// The oracle as a backend, "reference".
void RegisterReference(BackendRegistry& registry);

}  // namespace assay
