// A run in bound mode that goes on from captured values (spec/backend/captures.h): each array that
// was seen is shown to the caller beside what is right for it, and then takes its place.
#pragma once

#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "reference/interpreter/capture/settled_elements.h"
#include "reference/interpreter/capture/usual_orders.h"
#include "reference/interpreter/plan.h"
#include "reference/values/value.h"
#include "spec/backend/captures.h"
#include "spec/ir/module.h"
#include "spec/numerics/profile.h"

namespace assay::reference {

// Makes of an array what callers outside see: no views, the centre of forced elements filled in.
// Takes all of the array but the origins of its elements.
ArrayExpectation Export(Array& array);

class CapturedRun {
 public:
  // A run from what was seen of one device; `captures` outlives the run. Rejected: a capture whose
  // shape does not fit its instruction.
  static absl::StatusOr<CapturedRun> Make(const Module& module, const Captures& captures,
                                          const Profile& profile, int64_t device = 0);

  // From now on the run draws legal values: they are shown as they are, without bounds. `options`
  // outlive the run.
  void set_draw(const DrawOptions* options) { draw_ = options; }

  // True if the result of the instruction must exist as a whole.
  bool Watches(const Instruction& instruction) const;
  // Evaluates a step that is watched, shows its result and puts what was seen in its place. Of what
  // costs much only a sample is evaluated.
  absl::StatusOr<Value> Evaluate(Interpreter& interpreter, const Plan::Step& step,
                                 const OpContext& op);
  // Shows the result, or a loop's state after a trip, and puts captured arrays in its place.
  // `operands`: of which it was made; none for a loop's state.
  absl::Status Pass(const Instruction& instruction, Value& value, MemoryMeter& memory,
                    absl::Span<const Value* const> operands = {});
  // The branch that the conditional took; -1: not known.
  int64_t BranchTaken(const Instruction& conditional) const;

  // The trips of the loops at work, outermost first.
  std::vector<int64_t>& trips() { return trips_; }
  // While it is not 0, nothing is shown or replaced: in what the compiled program did not run.
  int& aside() { return aside_; }

 private:
  // A captured array of which not all elements are to be computed.
  struct Sample {
    Literal seen;                   // the whole array
    std::vector<int64_t> elements;  // rising linear indices; none: what was seen is all
  };
  // nullopt: all are. `products`: what the instruction costs as a whole.
  std::optional<Sample> SampleOf(const Instruction& instruction, int64_t products) const;
  absl::StatusOr<Value> EvaluateSample(Interpreter& interpreter, const Plan::Step& step,
                                       const OpContext& op, Sample sample);
  // Shows the values of the sample, a list, and puts what was seen in their place.
  absl::Status PassSample(const Instruction& instruction, Sample sample, Value& value,
                          MemoryMeter& memory);
  struct Followed {
    const Capture* capture;
    Shape shape;                 // of one trip's array
    std::vector<int64_t> trips;  // leading dimensions
  };
  // The captured array of the trips at work; nullopt: the loop was not seen to run that often.
  std::optional<Literal> Seen(const Followed& followed) const;
  // `open`: the elements that keep what was computed.
  Array AsRead(const Instruction& instruction, const Array& computed, Literal seen,
               absl::Span<const int64_t> open = {}) const;
  void Widen(const Instruction& instruction, const Array& computed, Array& array) const;
  // The undecided elements of the seen array, if those keep their bounds.
  std::vector<int64_t> OpenOf(const Capture& capture, const ArrayExpectation& expected,
                              const Literal& seen) const;
  void Show(const CaptureVisit& visit);
  // Removes from `open` the sums that a usual order gives, and makes `expected` forced there.
  static void SettleSums(const UsualSums& sums, const Literal& seen, ArrayExpectation& expected,
                         std::vector<int64_t>& open);
  // An array at work.
  struct Leaf {
    const Instruction& instruction;
    int64_t number = 0;
    absl::Span<const Value* const> operands;
    SettledElements settled = {};  // of all arrays
  };
  // Adds the arrays of the value that were seen and have elements with a property.
  void AddSeen(const Instruction& instruction, const Value& value, int64_t& number,
               std::vector<SeenArray>& arrays) const;
  absl::Status PassLeaf(const Leaf& leaf, Value& value, MemoryMeter& memory);
  absl::Status PassLeaves(Leaf& leaf, Value& value, MemoryMeter& memory);

  const Captures* captures_ = nullptr;
  const DrawOptions* draw_ = nullptr;
  size_t shown_ = 0;  // captured arrays so far
  bool excess_ = false, contract_ = false, flush_ = false, rounds_sums_ = false;
  absl::flat_hash_map<std::pair<const Instruction*, int64_t>, Followed> followed_;
  absl::flat_hash_set<const Instruction*> watched_;
  std::vector<int64_t> trips_;
  int aside_ = 0;
};

// Sets a counter up for as long as it lives.
class Counting {
 public:
  explicit Counting(int* count) : count_(count) {
    if (count_ != nullptr) ++*count_;
  }
  ~Counting() {
    if (count_ != nullptr) --*count_;
  }
  Counting(const Counting&) = delete;

 private:
  int* count_;
};

}  // namespace assay::reference
