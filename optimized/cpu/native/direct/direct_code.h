// A module of LLVM IR to running code without LLVM's code generation: in microseconds, not
// optimized. For code that hardly counts.
#pragma once

#include <memory>
#include <string>

#include "llvm/IR/Module.h"
#include "optimized/cpu/native/direct/code_block.h"
#include "optimized/defects/bends.h"

namespace assay::direct {

struct DirectCode {
  std::unique_ptr<CodeBlock> block;
  void* entry = nullptr;
  int64_t bytes = 0;
};

// True on machines that have the instructions that are written: those of AVX2, FMA, F16C, BMI2,
// LZCNT and POPCNT.
bool CanTranslate();

// Absent if something in the module is not known here; `why` says what. `bends`: what a planted
// defect changes in all of it.
std::unique_ptr<DirectCode> Translate(const llvm::Module& module, const char* entry,
                                      std::string& why, const KernelBends& bends = kNoBends);

}  // namespace assay::direct
