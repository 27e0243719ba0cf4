// Which instruction of HLO each instruction of a kernel computes for, as debug locations of LLVM:
// line k + 1 stands for the k-th instruction that was named.
#pragma once

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "spec/ir/module.h"

namespace assay::gpu {

class KernelLines {
 public:
  explicit KernelLines(llvm::IRBuilder<>& ir) : ir_(ir) {}

  // Locations lie in this kernel from here on.
  void Begin(llvm::Function& kernel);
  // All that is built from here on computes `instruction`; nullptr: nothing in particular.
  void Set(const Instruction* instruction);
  // Gives away those that were named, in the order of their lines.
  std::vector<const Instruction*> Take() { return std::move(named_); }

 private:
  llvm::IRBuilder<>& ir_;
  llvm::DISubprogram* kernel_ = nullptr;
  std::vector<const Instruction*> named_;
  absl::flat_hash_map<const Instruction*, llvm::DILocation*> locations_;
};

}  // namespace assay::gpu
