// Tells what this backend has code for: the one place that answers it, for the capability table of
// the backend and for each instruction of a module.
#pragma once

#include "absl/status/status.h"
#include "spec/ir/module.h"

namespace assay {

// True if there is code for the op, at least for some of its forms.
bool IsCompiled(Opcode opcode);
// True if the op has code where its operands have this element type.
bool IsCompiledFor(Opcode opcode, ElementType type);
// An unsupported error that names the first instruction, and what of it has no code; OK otherwise.
absl::Status CheckSupported(const Module& module);

}  // namespace assay
