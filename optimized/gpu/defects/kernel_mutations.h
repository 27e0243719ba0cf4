// Mistakes that compilers make in kernels of GPUs, as changes of their LLVM IR: planted to see
// whether the simulator finds them.
#pragma once

#include <cstddef>
#include <string_view>

#include "absl/types/span.h"
#include "llvm/IR/Function.h"

namespace assay::gpu {

struct KernelMutation {
  std::string_view name;  // stable
  std::string_view meaning;
  // `applies` tells whether the mistake can be made at this instruction; `apply` makes it.
  bool (*applies)(llvm::Instruction& at);
  void (*apply)(llvm::Instruction& at);
};

// The closed list.
absl::Span<const KernelMutation> KernelMutations();

// The one of that name, or null.
const KernelMutation* FindKernelMutation(std::string_view name);

// The places of a kernel at which the mistake can be made.
size_t CountPlaces(const KernelMutation& mutation, llvm::Function& kernel);

// Makes it at one of them, from 0 on. False, and nothing is changed, where there is no such place.
bool Mutate(const KernelMutation& mutation, size_t place, llvm::Function& kernel);

}  // namespace assay::gpu
