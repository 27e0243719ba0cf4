// Custom calls that are compiled: annotations that change nothing, and the routines of LAPACK and
// of XLA's expanders under the names that JAX gives them. Document: operation semantics chapter 14,
// CustomCall; LAPACK's definitions of its routines.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "optimized/runtime/linear_algebra/lapack.h"
#include "spec/ir/module.h"

namespace assay {

// Tells how compiled code runs a call of a routine.
struct LapackCall {
  LapackPlan plan;
  int64_t first_operand = 0;      // scalars in front say what the plan holds
  std::optional<int64_t> factor;  // a scalar that is the routine's last operand
  std::vector<int64_t> results;   // where the routine's results are among those of the call
  std::vector<int64_t> cleared;   // results of the call that are zeros
};

// Nothing if the target is unknown, an option is missing, a shape is not what the routine takes, or
// scalars that give sizes and options are not constants that fit.
std::optional<LapackCall> LapackCallOf(const Instruction& custom_call);

}  // namespace assay
