// Describes the elements that a fold combines into each of its results, and in what order it may,
// as reduce, reduce-window, scatter, select-and-scatter and scan have in common. Document:
// operation semantics chapter 10, "Order freedom" and "Initial value".
#pragma once

#include "reference/values/index_map.h"

namespace assay::reference {

// The elements that make up each result of a fold. Elements are linear indices.
class FoldTerms {
 public:
  virtual ~FoldTerms() = default;
  // Number of result elements.
  virtual int64_t results() const = 0;
  // The element of the initial values that result element o begins with.
  virtual int64_t InitOf(int64_t) const { return 0; }
  // The elements of the inputs that are combined into result element o, in order; `terms` is
  // overwritten.
  virtual void List(int64_t o, IndexMap& terms) const = 0;

  // All results, one after the other for k from 0 to results() - 1, in an order that lets work be
  // shared: where `goes_on` is set, a result has the terms of the one that was visited before it,
  // and those in `more` in addition, in no particular order; otherwise `more` holds all its terms.
  struct Visited {
    int64_t result;
    bool goes_on;
  };
  virtual Visited Visit(int64_t k, IndexMap& more) const {
    List(k, more);
    return {k, false};
  }
};

// Rules of an op for the steps of its fold, beyond "any order, any association".
struct FoldRules {
  // Rounding to the element type after every step is the meaning, not a freedom: scatter.
  bool stepwise = false;
  // UNSPECIFIED(operation semantics 9): updates of a scatter that meet in one element may be
  // applied in any order, but one is applied after the other.
  bool any_order = false;
};

}  // namespace assay::reference
