// Modules as StableHLO, for compilers that take no HLO. Document: StableHLO's specification. The
// text is MLIR's generic form: every op is written alike, "stablehlo.add"(%0, %1) {...} : types.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "spec/ir/module.h"

namespace assay {

// Tuples are taken apart: the function "main" takes and returns arrays, in depth-first order.
// Computations that are called are written in place. Errors (unsupported): an op, an element type
// or an attribute that StableHLO has no word for, by name; a module that is not valid.
absl::StatusOr<std::string> WriteStableHlo(const Module& module);

}  // namespace assay
