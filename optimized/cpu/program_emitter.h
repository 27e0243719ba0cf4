// A whole module as LLVM IR: one function per frame that calls its kernels in order, loops and
// branches native.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "llvm/IR/Module.h"
#include "optimized/cpu/buffer_assignment.h"
#include "optimized/cpu/kernel_emitter.h"

namespace assay {

// Name of the one external function: void (ptr table).
inline constexpr char kEntryName[] = "assay_entry";

absl::Status EmitProgram(llvm::Module& module, const KernelTarget& target, Gates& gates,
                         const BufferAssignment& buffers);

// Whether there is code for the op at all.
bool IsCompiled(Opcode opcode);
// The same for operands of one element type.
bool IsCompiledFor(Opcode opcode, ElementType type);
// An error naming the first instruction that no code can be generated for; OK otherwise.
absl::Status CheckSupported(const Module& module);

// Gives every call site of a loop body, condition, branch or called function its own copy of the
// computation.
absl::Status FlattenCallGraph(Module& module);

}  // namespace assay
