// The compiler for this machine's processor, as a Backend: HLO passes, buffer assignment, LLVM IR,
// native code.
#pragma once

#include "spec/backend/backend.h"

namespace assay {

// Registers the family "cpu". Options:
//   isa=host|avx512|avx2|baseline   instruction set (host)
//   threads=N                       threads of large kernels (all processors)
//   ranks=threads|processes|mpi     what several devices are; processes have one thread (threads)
//   tier=auto|fast|full             least compile time, or LLVM's optimizer as well (auto: by the
//                                   estimated work of a run)
//   profile=xla|strict              floating point freedoms used, and granted by whoever judges
//   (xla) passes=on|off|all               optional HLO passes (on); all: those on request too
//   without=a+b                     all passes but these
//   verify=on|off                   verify the module after each pass (off)
//   trace=on|off                    a record of each pass, and a hash of the code (code.hash),
//                                   among the statistics (off)
//   dump-llvm=FOLDER                write the LLVM IR of each module to FOLDER/NAME.ll
void RegisterCpu(BackendRegistry& registry);

}  // namespace assay
