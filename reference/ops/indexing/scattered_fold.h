// Updates that are combined into elements of an operand at places known at run time only: the end
// of scatter and of select-and-scatter. Document: operation semantics chapter 9, Scatter ("Order").
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "reference/ops/reduction/fold.h"

namespace assay::reference {

// Where each update goes.
struct Destinations {
  IndexMap plain;  // element of the operand per update, in the order of application; -1: nowhere
  struct Possible {
    int64_t element, update;
  };
  // Not certain: these updates may go to these elements or not; what `plain` says of an update that
  // appears in `unsure` is one of the possibilities.
  std::vector<Possible> possible;
  std::vector<bool> unsure;  // per update; empty: none
};

// result[d] = combiner(result[d], update), update by update, on arrays like the operands.
// `collide`: the op promises that no two updates meet.
absl::StatusOr<Value> CombineScattered(Interpreter& interpreter, const OpContext& op,
                                       const Computation& combiner,
                                       absl::Span<const Array* const> operands,
                                       absl::Span<const Array* const> updates,
                                       const Destinations& destinations, bool unique);

}  // namespace assay::reference
