// LLVM's passes that select, allocate and write instructions, without those that find nothing to do
// in code of ours.
#pragma once

#include "absl/status/status.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace assay {

// Adds to `passes` what makes an object file of a module, written to `object`.
absl::Status AddCodegenPasses(llvm::TargetMachine& machine, llvm::raw_pwrite_stream& object,
                              llvm::legacy::PassManager& passes);

}  // namespace assay
