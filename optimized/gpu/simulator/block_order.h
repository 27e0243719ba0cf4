// The order in which a warp runs blocks.
#pragma once

#include <vector>

#include "llvm/IR/Function.h"

namespace assay::gpu {

// The blocks that can be reached, each after those that lead to it (but for back edges) and each
// loop in one piece. A warp that always runs the first block in this order that any of its lanes
// waits at, joins its lanes where paths meet: those that have left a loop wait until the last one
// does.
std::vector<const llvm::BasicBlock*> OrderOfBlocks(const llvm::Function& function);

}  // namespace assay::gpu
