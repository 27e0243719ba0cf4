// Arguments whose run-time sizes other arguments hold. Documents: HloModule
// (dynamic_parameter_binding), operation semantics chapter 16.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "reference/value.h"
#include "spec/ir/module.h"

namespace assay::reference {

// Cuts the arguments of the entry to the sizes that the module's binding names. Errors: a size that
// is not in [0, bound] (rejected), a binding that does not fit the parameters (rejected), a
// dimension that its parameter's shape does not call dynamic (unsupported).
absl::Status CutToBoundSizes(const Module& module, std::vector<Value>& arguments,
                             MemoryMeter& meter);

}  // namespace assay::reference
