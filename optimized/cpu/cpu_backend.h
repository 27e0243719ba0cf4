// The compiler for this machine's processor, as a Backend: HLO passes, buffer assignment, LLVM IR,
// native code.
#pragma once

#include "spec/backend/backend.h"

namespace assay {

// Registers the family "cpu". Options:
//   isa=host|avx512|avx2|baseline   instruction set (host)
//   threads=N                       threads of large kernels (all processors)
//   tier=auto|fast|full             least compile time, or LLVM's optimizer as well (auto: by the
//                                   estimated work of a run)
//   profile=xla|strict              floating point freedoms used, and granted by whoever judges
//   (xla) passes=on|off                   HLO passes (on)
void RegisterCpu(BackendRegistry& registry);

}  // namespace assay
