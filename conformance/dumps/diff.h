// Shows what a pass changed in the text of a program.
#pragma once

#include <string>
#include <vector>

#include "spec/ir/module.h"

namespace assay {

// Lines "- ..." and "+ ..." of the long form without metadata, each group of changed ones under the
// computation that it is in ("@ ENTRY main"); at most `most` lines, then how many were left out.
std::string DiffOf(const Module& before, const Module& after, size_t most);

}  // namespace assay
