// A whole module as LLVM IR: one function per frame that calls its kernels in order, loops and
// branches native.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "llvm/IR/Module.h"
#include "optimized/buffers/buffer_assignment.h"
#include "optimized/cpu/kernel_emitter.h"

namespace assay {

// Name of the one external function: void (ptr table).
inline constexpr char kEntryName[] = "assay_entry";

absl::Status EmitProgram(llvm::Module& module, const KernelTarget& target, Gates& gates,
                         const BufferAssignment& buffers);

}  // namespace assay
