// One kernel as code: a function (ptr table, i64 begin, i64 end), where [begin, end) is its part of
// the outermost loop.
#pragma once

#include <atomic>
#include <cstdint>

#include "absl/status/statusor.h"
#include "llvm/IR/Module.h"
#include "optimized/plan/kernel_plan.h"

namespace assay {

// The target of code emission and its surroundings.
struct CodeContext {
  llvm::Module& module;
  const Target& target;
  std::atomic<int64_t>* steps = nullptr;  // where loops count what they do; nullptr: nowhere
  int64_t idle = 0;                       // turns of an empty loop that each kernel makes first
};

// Writes down what was planned. `buffers` name what the plan's do, maybe by another table.
absl::StatusOr<llvm::Function*> EmitKernel(const CodeContext& context, const KernelPlan& plan,
                                           const KernelBuffers& buffers);

}  // namespace assay
