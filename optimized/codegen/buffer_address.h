// Addresses of buffers in emitted code, for kernels and for the code that calls them.
#pragma once

#include "llvm/IR/IRBuilder.h"
#include "optimized/buffers/buffer_table.h"

namespace assay {

// Address of a slice, loaded from the table.
llvm::Value* SliceAddress(llvm::IRBuilder<>& ir, llvm::Value* table, BufferSlice slice);
// The RunContext (optimized/runtime/run_context.h) that the table names.
llvm::Value* LoadContext(llvm::IRBuilder<>& ir, llvm::Value* table);

}  // namespace assay
