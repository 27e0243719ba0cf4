// Operations that LLVM's fast instruction selection does not know, in terms of those that it does.
#pragma once

#include "llvm/IR/Module.h"

namespace assay {

// Minimum, maximum and absolute value of scalar integers become comparisons and selections, or
// constants. Each that stayed would be selected by the slow way, alone in a graph of its own.
void UsePlainForms(llvm::Module& module);

}  // namespace assay
