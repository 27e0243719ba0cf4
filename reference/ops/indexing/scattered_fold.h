// Updates that are combined into elements of an operand at places known at run time only: the end
// of scatter and of select-and-scatter. Document: operation semantics chapter 9, Scatter ("Order").
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "reference/ops/reduction/fold.h"

namespace assay::reference {

// The elements of the operand to which the updates go.
struct Destinations {
  IndexMap plain;  // element of the operand per update, in the order of application; -1: nowhere
  struct Possible {
    int64_t element, update;
  };
  // Destinations that depend on rounding: an update marked in `unsure` may go to any of the
  // elements that `possible` lists for it, to the one that `plain` says, or nowhere.
  std::vector<Possible> possible;
  std::vector<bool> unsure;  // per update; empty: none
};

struct ScatteredFold {
  const OpContext& op;
  const Computation& combiner;
  absl::Span<const Array* const> operands, updates;
  const Destinations& destinations;
  bool unique = false;  // the op promises that no two updates go to the same element
};

// result[d] = combiner(result[d], update), update by update, on arrays like the operands.
absl::StatusOr<Value> CombineScattered(Interpreter& interpreter, const ScatteredFold& fold);

}  // namespace assay::reference
