// Forms of an op that have no code though the op has.
#pragma once

#include "absl/status/status.h"
#include "spec/ir/instruction.h"

namespace assay {

// An unsupported error that says which form, or OK.
absl::Status CheckForm(const Instruction& instruction);

}  // namespace assay
