// Programs in which the operands of an op have several float types, as a TPU's compiler writes them
// after it chose what to keep in bf16.
#pragma once

#include "spec/ir/module.h"

namespace assay {

// Writes out what such ops do: the operands are converted to the widest of the types that the op
// has, or to the one that its computation takes, and the result is converted to the type that is
// written. Only instructions that do not verify are touched.
void MakePrecisionExplicit(Module& module);

}  // namespace assay
