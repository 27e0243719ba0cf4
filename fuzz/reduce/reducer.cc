// The rounds of steps that make a case small.
#include "fuzz/reduce/reducer.h"

#include <utility>

#include "fuzz/reduce/edit.h"
#include "fuzz/reduce/steps.h"
#include "spec/base/status_macros.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

constexpr auto kStructure = ReduceStep::kStructure, kDetails = ReduceStep::kDetails;
// In the order in which a round runs them.
constexpr ReduceStep kSteps[] = {
    {"drop the header", DropHeader, kStructure},
    {"drop outputs", DropOutputs, kStructure},
    {"drop effects", DropEffects, kStructure},
    {"numbers to truth values", NumbersToTruth, kStructure},
    {"shrink everything", ShrinkEverything, kStructure},
    {"earlier root", EarlierRoot, kStructure},
    {"operands as outputs", OutputsByOperands, kStructure},
    {"lift a callee", LiftCallee, kStructure},
    {"inline calls", InlineCalls, kStructure},
    {"merge computations", MergeComputations, kStructure},
    {"forward tuples", ForwardTuples, kStructure},
    {"cut operands", CutOperands, kStructure},
    {"replace by operand", ReplaceByOperand, kStructure},
    {"read elements", ReadElements, kStructure},
    {"prune loop state", PruneLoopState, kStructure},
    {"prune branches", PruneBranches, kStructure},
    {"drop operands", DropOperands, kStructure},
    {"simplify callees", SimplifyCallees, kStructure},
    {"merge leaves", MergeLeaves, kStructure},
    {"shrink dimensions", ShrinkDimensions, kDetails},
    {"drop dimensions", DropDimensions, kDetails},
    {"simplify attributes", SimplifyAttributes, kDetails},
    {"simplify types", SimplifyTypes, kDetails},
    {"simplify values", SimplifyValues, kDetails},
};
// It comes last: after it, steps on the tuple's elements find nothing that reads them.
constexpr ReduceStep kWholeResult = {"whole result", WholeResult, kStructure};

// A compiler may fail over what nothing reads.
bool IsNeededDead(const ReduceCase& start, const ReducePredicate& predicate) {
  if (DeadInstructions(*start.module).empty()) return false;
  ReduceCase without = start.Clone();
  RemoveUnused(without);
  return !predicate(*without.module, without.inputs);
}

// Rounds of steps until one changes nothing, or the time is over; true if the last changed
// something.
bool RunRounds(Reduction& reduction, bool with_details) {
  bool changed = true;
  while (changed && !reduction.Expired()) {
    changed = false;
    for (const ReduceStep& step : kSteps) {
      if (reduction.Expired()) break;
      if (step.changes == kDetails && !with_details) continue;
      changed |= RunStep(reduction, step);
    }
  }
  return changed;
}

}  // namespace

absl::StatusOr<ReduceResult> Reduce(const Module& module, const std::vector<Literal>& inputs,
                                    const ReducePredicate& predicate,
                                    const ReduceOptions& options) {
  ASSAY_RETURN_IF_ERROR(Verify(module));
  if (!predicate(module, inputs)) {
    return absl::FailedPreconditionError(
        "the program does not show the failure to begin with: nothing to reduce");
  }
  Reduction reduction({module.Clone(""), inputs}, predicate, options);
  if (IsNeededDead(reduction.best->reduce_case, predicate))
    reduction.best->needed = DeadInstructions(module);
  ReduceResult result;
  if (options.is_enough) {
    RunRounds(reduction, /*with_details=*/false);
    result.was_enough = !reduction.Expired() && options.is_enough(reduction.best->reduce_case);
  }
  if (!result.was_enough) {
    bool changed = RunRounds(reduction, /*with_details=*/true);
    if (!reduction.Expired() && RunStep(reduction, kWholeResult))
      changed = RunRounds(reduction, /*with_details=*/true);
    result.complete = !changed && !reduction.Expired();
  }
  result.progress = reduction.progress;
  result.reduced = reduction.best->reduce_case.Clone();
  return result;
}

}  // namespace assay
