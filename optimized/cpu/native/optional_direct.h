// Makes code without LLVM's code generation. The library that does so, native/direct, is optional
// (CMake option ASSAY_DIRECT), and nothing else names it: without it LLVM makes all code.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "llvm/IR/Module.h"
#include "optimized/defects/bends.h"

namespace assay {

struct DirectTranslation {
  std::shared_ptr<const void> memory;  // holds the code
  void* entry = nullptr;
  int64_t bytes = 0;
};

// True if the library is built and this machine has the instructions that it writes.
bool CanTranslateDirectly();
// Absent if the library is not built, or does not know something in the module. `bends` are the
// changes of planted defects to all of its code.
std::optional<DirectTranslation> TranslateDirectly(const llvm::Module& module, const char* entry,
                                                   const KernelBends& bends);

}  // namespace assay
