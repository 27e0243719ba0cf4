// The plan of a computation, made before it runs: which instructions are evaluated, in which order
// and in which way, and when their values are no longer needed.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "reference/interpreter/op_evaluations.h"
#include "reference/licenses/constants.h"
#include "reference/values/op_context.h"
#include "reference/values/value.h"
#include "spec/ir/module.h"

namespace assay::reference {

class ConstantFolder;

// True if the result of the op is its operand, where that has one element.
bool PassesOneElementOn(const Instruction& instruction);

// In which way a step is evaluated.
enum class StepKind : uint8_t {
  kParameter,     // an argument of the computation
  kConstant,      // the value that the plan holds
  kPlain,         // the op, with a result of the instruction's shape
  kScatteredSum,  // likewise; it may make a sum that is pulled into a scatter, or pass one on
  kRunTimeSize,   // the op, with a result of the shape that the run-time sizes of operands give
  kWindows,       // reads windows of an array of dynamic shape, which may reach beyond its sizes
};

// The instructions of a computation that its root needs or that have effects, in order, with the
// places of their operands.
struct Plan {
  struct Step {
    const Instruction* instruction = nullptr;
    Evaluation evaluation;
    StepKind kind = StepKind::kPlain;
    bool in_blocks = false;                  // may run with others, a block of elements at a time
    absl::InlinedVector<int, 3> operands;    // step numbers
    absl::InlinedVector<int, 3> dead_after;  // values whose last user this is
    LicensedForms licensed;
    // An addition may read the result before it is rounded, moved or scaled on the way.
    bool may_feed_sum = true;
    bool is_rounded_product = false;  // a product that no addition may read unrounded
    Value constant;                   // of a constant instruction

    bool IsLeaf() const { return kind == StepKind::kParameter || kind == StepKind::kConstant; }
    bool HasShapeOfInstruction() const {
      return kind == StepKind::kPlain || kind == StepKind::kScatteredSum;
    }
  };
  const Computation* computation;
  std::vector<Step> steps;
  size_t root = 0;  // its step
  // True if all values are single elements, by element-wise ops, calls, branches and moves of one
  // element: the computation can then run once on whole arrays.
  bool liftable = false;
};

// The plans of a module's computations, made when they are first run. The devices of a mesh share
// them.
class Plans {
 public:
  // The plans of runs in bound mode hold the forms that a profile may license.
  explicit Plans(bool bounding);
  ~Plans();
  // The results of the instructions for which `keeps` is true will exist as wholes; before the
  // first plan is made.
  void KeepWhole(std::function<bool(const Instruction&)> keeps) { keeps_whole_ = std::move(keeps); }

  // Constants count on `memory`. unsupported: a constant whose value the text leaves out, an op
  // without an evaluation.
  absl::StatusOr<const Plan*> PlanOf(const Computation& computation, MemoryMeter& memory);
  // True if running the computation does more than to compute its result.
  bool HasEffects(const Computation& computation);

 private:
  void MakeConstants();
  bool HasEffect(const Instruction& instruction) const;
  bool IsLiftable(const Instruction& instruction);
  bool IsLiftable(const Computation& computation);
  std::vector<const Instruction*> StepsOf(const Computation& computation);
  StepKind KindOf(const Plan::Step& step) const;
  absl::StatusOr<Plan::Step> MakeStep(const Instruction& instruction, MemoryMeter& memory) const;

  const bool bounding_;
  std::function<bool(const Instruction&)> keeps_whole_;
  absl::flat_hash_map<const Computation*, std::unique_ptr<Plan>> plans_;
  // The module at hand, whether it has a scatter, its computations with side effects, or that call
  // such, and who calls whom.
  const Module* module_ = nullptr;
  bool has_scatter_ = false;
  absl::flat_hash_map<const Computation*, bool> effects_;
  // Computations that are called by others; false also of those that are being looked at.
  absl::flat_hash_map<const Computation*, bool> liftable_;
  int lift_depth_ = 0;
  InliningCallers inlining_callers_;
  // The constants of the module, and what evaluates them in bound mode, which outlives them.
  std::unique_ptr<ConstantFolder> folder_;
  std::unique_ptr<Constants> constants_;
};

}  // namespace assay::reference
