// Cuts a module of LLVM IR into parts that are compiled side by side: what runs often is optimized,
// on as many threads as there are, what runs once is translated in the least time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"

namespace assay {

// The functions that a cut goes between carry this attribute; its value says whether one is "hot"
// or "cold". Every other function helps those that call it, and is in each part that needs it.
inline constexpr char kPartAttribute[] = "assay-part";
inline constexpr char kHot[] = "hot";
inline constexpr char kCold[] = "cold";

struct CodePart {
  std::vector<std::string> functions;
  bool is_cold = false;
  int64_t work = 0;  // what it takes to compile, in instructions that are optimized
};

struct ModuleCut {
  std::vector<CodePart> parts;  // most work first; empty: the module stays whole
  bool all_cold = false;        // nothing in the module is worth optimizing
};

// A long module has more parts than there are threads: what LLVM holds for a part is given back
// after it, and stays in the caches meanwhile.
ModuleCut PlanCut(const llvm::Module& module, int threads);
bool IsCold(const llvm::Function& function);
// Has cold functions that stay among hot ones translated as they are.
void SpareCold(llvm::Module& module);
// Lets parts see each other's functions.
void ExportParts(llvm::Module& module);
// The part of the module that `bitcode` is; of all other functions not even the bodies are read.
llvm::Expected<std::unique_ptr<llvm::Module>> ReadPart(llvm::MemoryBufferRef bitcode,
                                                       const CodePart& part,
                                                       llvm::LLVMContext& context);

}  // namespace assay
