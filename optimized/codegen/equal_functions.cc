// A hash of the structure first, then the comparison that LLVM merges functions by.
#include "optimized/codegen/equal_functions.h"

#include "llvm/IR/StructuralHash.h"

namespace assay {

llvm::Function* EqualFunctions::Unique(llvm::Function* function) {
  std::vector<llvm::Function*>& alike =
      by_hash_[llvm::StructuralHash(*function, /*DetailedHash=*/true)];
  for (llvm::Function* other : alike) {
    if (llvm::FunctionComparator(function, other, &numbers_).compare() != 0) continue;
    numbers_.erase(function);
    function->eraseFromParent();
    return other;
  }
  alike.push_back(function);
  return function;
}

}  // namespace assay
