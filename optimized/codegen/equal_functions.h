// Finds functions of a module that do the same, so that code which stands in a program many times
// is compiled once: layers of a model repeat.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "llvm/IR/Function.h"
#include "llvm/Transforms/Utils/FunctionComparator.h"

namespace assay {

class EqualFunctions {
 public:
  // The function that is to be called in place of `function`, which nothing calls yet: an equal one
  // that was given before, and `function` is gone, or itself.
  llvm::Function* Unique(llvm::Function* function);

 private:
  llvm::GlobalNumberState numbers_;
  absl::flat_hash_map<uint64_t, std::vector<llvm::Function*>> by_hash_;
};

}  // namespace assay
