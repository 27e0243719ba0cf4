// LLVM IR for a GPU as what its driver loads.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "llvm/IR/Module.h"

namespace assay::gpu {

struct KernelImage {
  std::string text;   // PTX
  std::string cubin;  // the same, assembled; "": the driver does that
  // The kernels' names in it, by those that they have in the module: PTX knows fewer letters.
  std::map<std::string, std::string> names;
};

struct ImageOptions {
  std::string processor;  // "sm_90", as LLVM names it
  std::string features;   // of LLVM: the version of PTX; "": the oldest that knows the processor
  // Comments hold the IR, too, so that the stand-in for the driver in tests can run it.
  bool with_ir = false;
};

// Writes PTX. The module is left as it is. Errors: unimplemented, where LLVM has no such target.
absl::StatusOr<KernelImage> MakeKernelImage(const llvm::Module& module,
                                            const ImageOptions& options);

// The IR's bitcode in such a text; "" where there is none.
std::string IrOfImage(std::string_view image);

}  // namespace assay::gpu
