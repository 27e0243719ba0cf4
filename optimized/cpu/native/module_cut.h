// Cuts a module of LLVM IR into parts that are compiled side by side: what runs often is optimized,
// on as many threads as there are, what runs once is translated in the least time.
#pragma once

#include <string>
#include <vector>

#include "llvm/IR/Module.h"

namespace assay {

// The functions that a cut goes between carry this attribute; its value says whether one is "hot"
// or "cold". Every other function helps those that call it, and is in each part that needs it.
inline constexpr char kPartAttribute[] = "assay-part";
inline constexpr char kHot[] = "hot";
inline constexpr char kCold[] = "cold";

struct ModuleCut {
  // Names of functions. Both empty: the module stays whole.
  std::vector<std::vector<std::string>> hot;
  std::vector<std::string> cold;
  bool all_cold = false;  // nothing in the module is worth optimizing
};

ModuleCut PlanCut(const llvm::Module& module, int threads);
bool IsCold(const llvm::Function& function);
// Has cold functions that stay among hot ones translated as they are.
void SpareCold(llvm::Module& module);
// Lets parts see each other's functions.
void ExportParts(llvm::Module& module);
// Removes the bodies of all functions but those named and their helpers, and data that nothing uses
// any more.
void KeepPart(llvm::Module& module, const std::vector<std::string>& functions);

}  // namespace assay
