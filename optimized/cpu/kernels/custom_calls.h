// Custom calls that are compiled: annotations that change nothing, and the routines of LAPACK and
// of XLA's expanders under the names that JAX gives them. Document: operation semantics chapter 14,
// CustomCall; LAPACK's definitions of its routines.
#pragma once

#include <optional>
#include <string>

#include "optimized/runtime/lapack.h"
#include "spec/ir/module.h"

namespace assay {

// The plan of a call of a routine: nothing if the target is unknown, an option is missing or a
// shape is not what the routine takes.
std::optional<LapackPlan> LapackPlanOf(const Instruction& custom_call);

}  // namespace assay
