// The real elements of the windows of an array. Document: operation semantics chapter 10,
// ReduceWindow and SelectAndScatter.
#pragma once

#include "reference/interpreter/interpreter.h"
#include "reference/values/fold_terms.h"
#include "reference/values/lines.h"

namespace assay::reference {

// Window o, in row-major order of the places; its terms are the elements of the base in row-major
// order of the window, without padding and holes.
class WindowTerms : public FoldTerms {
 public:
  // `places`: how often the window fits along each dimension.
  WindowTerms(const Shape& base, absl::Span<const WindowDim> window,
              absl::Span<const int64_t> places);

  int64_t results() const override { return count_; }
  void List(int64_t o, IndexMap& terms) const override;
  // Running sums and the like: where the windows of a line all begin at its first element, or all
  // end at its last one, each goes on from its neighbour, so that n of them take n steps.
  Visited Visit(int64_t k, IndexMap& more) const override;

  // Takes as many steps as listing all windows needs, or `visiting` them; a window may be far
  // larger than the base.
  absl::Status TakeSteps(Budget& budget, bool visiting) const;
  // Elements of a window, padding and holes included; saturates.
  int64_t WindowSize() const;
  // Elements of window o that List would give.
  int64_t SizeOf(int64_t o) const;

 private:
  enum class Running : uint8_t { kNot, kFromFirst, kToLast };
  Running RunningAlong(size_t d) const;
  // Positions of the window at `place` along dimension d, from the first to before the last, that
  // lie on the base or in one of its holes.
  std::pair<int64_t, int64_t> Reach(size_t d, int64_t place) const;
  int64_t CountCovered(size_t d, int64_t place) const;
  // Elements of the base along dimension d that the window at `place` covers, times the stride.
  void Covered(int64_t d, int64_t place, IndexMap& elements) const;
  // Lists those that window `o` covers; along the dimension `instead` only `element`, if it is not
  // -1.
  void ListWith(int64_t o, int64_t instead, int64_t element, IndexMap& terms) const;

  DimVector sizes_, strides_, places_;
  absl::Span<const WindowDim> window_;
  int64_t count_ = 1;
  Running running_ = Running::kNot;
  int64_t running_dim_ = -1;
  Lines lines_;  // of the places along the running dimension
  // Lists of ListWith, kept so that not every window allocates anew. Each evaluation has windows of
  // its own, in one thread.
  mutable IndexMap covered_, product_;
};

}  // namespace assay::reference
