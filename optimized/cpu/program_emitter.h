// A whole module as LLVM IR: one function per frame that calls its kernels in order, loops and
// branches native.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "llvm/IR/Module.h"
#include "optimized/cpu/kernel_emitter.h"
#include "optimized/plan/program_plan.h"

namespace assay {

// Name of the one external function: void (ptr table).
inline constexpr char kEntryName[] = "assay_entry";

absl::Status EmitProgram(const CodeContext& context, const ProgramPlan& plan,
                         const BufferAssignment& buffers);

}  // namespace assay
