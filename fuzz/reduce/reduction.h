// The state of one reduction, and the steps that propose candidates to it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "fuzz/reduce/edit.h"
#include "fuzz/reduce/links/equivalence.h"
#include "fuzz/reduce/reducer.h"

namespace assay {

// The size of a case in several numbers, most important first. A step is accepted only if it makes
// this smaller, so every reduction ends.
using ReduceCost = std::array<int64_t, 9>;
ReduceCost CostOf(const ReduceCase& reduce_case);

class Reduction {
 public:
  Reduction(ReduceCase start, const ReducePredicate& predicate, const ReduceOptions& options);

  // What nothing reads is needed for the failure, and goes one by one; otherwise all of it goes
  // with the first step.
  void KeepDead() { needed_ = DeadInstructions(*best_.module); }

  const ReduceCase& best() const { return best_; }
  const ReduceProgress& progress() const { return progress_; }
  bool Expired() const;

  // Runs one kind of simplification as long as it proposes something new; true if any was accepted.
  // With several jobs it is run on trial first, to see what it will propose.
  bool Run(bool (*step)(Reduction&));

  // Steps ask before they make a candidate, since a copy costs as much as the program is long:
  // false where nothing more is wanted, and where the step would make what it made of the same best
  // case before, and what was refused.
  bool Wants();

  // Cleans the candidate (dead code, unused parameters, order), and makes it the best if it is
  // smaller, verifies, was not tried before and the predicate holds. False otherwise.
  bool Try(ReduceCase candidate, std::string_view step);

  // What has to change together in the best case: found once per best case, and valid as long as
  // the best case is the same.
  std::shared_ptr<const Equivalence> Links(LinkKind kind);

  // The values of the entry's instructions on the best inputs, by instruction id: empty literals
  // where there is none. Computed once per best case; empty if there is no way to evaluate.
  const std::vector<Literal>& Values();

 private:
  enum class Mode : uint8_t {
    kTry,      // the predicate is asked
    kPropose,  // candidates are only collected
    kApply,    // answers are there; at the first candidate without one the step ends
  };
  bool RunOnce(bool (*step)(Reduction&), Mode mode);
  bool Holds(const ReduceCase& candidate, uint64_t hash);
  void AskAboutProposals();
  // Adds to `needed` the names of those in the candidate that nothing reads and that are new.
  void AddNewDead(const ReduceCase& candidate, absl::flat_hash_set<std::string>& needed) const;

  ReduceCase best_;
  ReduceCost cost_;
  absl::flat_hash_set<std::string> needed_;  // by name: what stays although nothing reads it
  const ReducePredicate& predicate_;
  const ReduceOptions& options_;
  ReduceProgress progress_;
  double start_;
  absl::flat_hash_set<uint64_t> tried_;
  Mode mode_ = Mode::kTry;
  struct Proposal {
    uint64_t hash;
    ReduceCase candidate;
  };
  std::vector<Proposal> proposals_;              // of the trial run
  absl::flat_hash_map<uint64_t, bool> answers_;  // by the hash of the candidate
  bool is_paused_ = false;                       // a candidate had no answer
  // Runs of a step on the same best case make the same candidates in the same order.
  int64_t position_ = 0, refused_ = 0;  // in it: of the next candidate; of the last that is known
  bool is_counting_ = false;            // false once the step has changed the best case
  std::vector<Literal> values_;
  bool values_known_ = false;
  std::array<std::shared_ptr<const Equivalence>, kLinkKinds> links_;
};

// One kind of simplification: proposes candidates as long as some are accepted. True if any was.
struct ReduceStep {
  enum Changes : uint8_t { kStructure, kDetails };  // which ops there are, or sizes, types, values
  std::string_view name;
  bool (*run)(Reduction&);
  Changes changes;
};
// In the order in which a round runs them.
absl::Span<const ReduceStep> ReduceSteps();

// structure.cc: what the entry computes.
bool DropHeader(Reduction&);      // annotations, aliases, layouts of the caller
bool DropOutputs(Reduction&);     // elements of a root tuple
bool DropEffects(Reduction&);     // what nothing reads and has more effects than its value
bool EarlierRoot(Reduction&);     // an intermediate as the only output, in long programs by halving
bool AnyEarlierRoot(Reduction&);  // the same one by one, however long
bool OutputsByOperands(Reduction&);  // what an element of a root tuple is made of, in its place
bool WholeResult(Reduction&);        // a tuple in place of those of its elements that are outputs
bool CutOperands(Reduction&);       // an instruction becomes a parameter or constant with its value
bool ForwardTuples(Reduction&);     // get-tuple-element of tuple
bool ReplaceByOperand(Reduction&);  // an instruction by one of its operands, in all computations
bool PlainerOperation(Reduction&);  // an instruction by the negation of one of its operands
bool MergeLeaves(Reduction&);       // equal-shaped parameters and constants into one
// calls.cc: computations.
bool InlineCalls(Reduction&);  // call, fusion; one branch of a conditional; one trip of a while
bool InlineSharedCallees(Reduction&);  // all calls of one computation at once
bool MergeComputations(Reduction&);    // another computation of the same form is called
bool ReadElements(Reduction&);      // an element of what a body or branch takes in place of a value
bool LiftCallee(Reduction&);        // what a called computation computes, as the only output
bool RetargetElements(Reduction&);  // an earlier element of a tuple in place of another
bool PruneLoopState(Reduction&);    // elements of a while's tuple
bool PruneBranches(Reduction&);     // elements of the tuple that a branch takes
bool SimplifyCallees(Reduction&);   // instructions of called computations by constants
// variadic.cc
bool DropVariadicOperands(Reduction&);  // one of the arrays of a sort, reduce, map or call
bool DropParts(Reduction&);             // of a concatenation
// types.cc
bool NumbersToTruth(Reduction&);  // what a called computation says without looking at its numbers
// shrink.cc, rank.cc, types.cc, attributes.cc, values.cc
bool ShrinkEverything(
    Reduction&);  // all dimensions at once, early: small programs are quick to try
bool MergeFittedLeaves(Reduction&);  // a leaf takes the sizes of another value, and its place
bool ShrinkDimensions(Reduction&);
bool DropDimensions(Reduction&);
bool SimplifyTypes(Reduction&);
bool SimplifyAttributes(Reduction&);
bool SimplifyValues(Reduction&);
// labels.cc
bool StandardLabels(Reduction&);  // dimensions of convolutions in the usual order
int64_t OtherThanStandard(const ConvDimLabels& labels);  // of its three arrays

}  // namespace assay
