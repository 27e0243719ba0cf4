// Custom calls that say something about devices, sharding or layout, and change nothing. Document:
// operation semantics chapter 14, CustomCall.
#pragma once

#include "spec/ir/module.h"

namespace assay {

// The result is operand 0.
bool IsAnnotation(const Instruction& custom_call);

}  // namespace assay
