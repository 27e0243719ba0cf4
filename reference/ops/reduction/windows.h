// The real elements of the windows of an array. Document: operation semantics chapter 10,
// ReduceWindow and SelectAndScatter.
#pragma once

#include "reference/interpreter/interpreter.h"
#include "reference/values/fold_terms.h"

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

  // Takes as many steps as listing all windows needs; a window may be far larger than the base.
  absl::Status TakeSteps(Budget& budget) const;
  // Elements of a window, padding and holes included; saturates.
  int64_t WindowSize() const;

 private:
  // Elements of the base along dimension d that the window at `place` covers, times the stride.
  void Covered(int64_t d, int64_t place, IndexMap& elements) const;

  DimVector sizes_, strides_, places_;
  absl::Span<const WindowDim> window_;
  int64_t count_ = 1;
};

}  // namespace assay::reference
