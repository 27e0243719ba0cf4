// Random functions of LLVM IR for the test of the translator, defined for all arguments.
#pragma once

#include <cstdint>

#include "llvm/IR/Module.h"

namespace assay::direct {

// Bytes of an entry's arguments and room for its results.
inline constexpr int kArgumentBytes = 1024, kResultBytes = 1 << 16;

// Adds `assay_entry`, of void (ptr table), to the module: it reads table[0] and writes table[1].
// The same seed gives the same function.
void AddRandomEntry(llvm::Module& module, uint64_t seed);

}  // namespace assay::direct
