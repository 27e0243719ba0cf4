// References of a module's code beyond its own functions: data, functions of each other and of the
// runtime.
#pragma once

#include <optional>

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Module.h"
#include "optimized/cpu/native/assembler/assembler.h"

namespace assay::direct {

class Links {
 public:
  explicit Links(Assembler& assembler) : assembler_(assembler) {}

  Label LabelOf(const llvm::Function& function);
  // The place of an array among the constants; absent for data that changes or that is not an
  // array of plain elements.
  std::optional<int32_t> PlaceOf(const llvm::GlobalVariable& data);
  // The address of a function of the runtime; nullptr: there is none of this name.
  static void* Runtime(llvm::StringRef name);
  // Has `to` point to a global, or to a place within one; false for other constants.
  bool LoadAddress(Gpr to, const llvm::Constant& constant);

 private:
  Assembler& assembler_;
  llvm::DenseMap<const llvm::Function*, Label> labels_;
  llvm::DenseMap<const llvm::GlobalVariable*, int32_t> places_;
};

}  // namespace assay::direct
