// The ways in which a compiler may meet an op: its operands are arguments, or known while it
// compiles, or it stands in a loop, in a branch, in a function; they are split between two devices,
// or their buffers are given away.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "spec/ir/module.h"
#include "spec/types/literal.h"

namespace assay {

enum class MatrixMode : uint8_t { kArguments, kFolded, kCall, kLoop, kBranch, kSharded, kDonated };
inline constexpr int kMatrixModeCount = 7;
std::string_view Name(MatrixMode mode);  // "folded"

// Makes the same computation in another mode; `inputs` fit its parameters afterwards (kFolded
// leaves none). nullptr where the mode is not for this module: it talks to others, is too large to
// be folded, or has no dimension that can be halved.
std::unique_ptr<Module> InMode(const Module& module, MatrixMode mode, std::vector<Literal>& inputs);

}  // namespace assay
