// LLVM IR for a GPU as what its driver loads.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "llvm/IR/Module.h"

namespace assay::gpu {

struct KernelImage {
  std::string text;  // PTX
  // The kernels' names in it, by those that they have in the module: PTX knows fewer letters.
  std::map<std::string, std::string> names;
};

// PTX for "sm_80", "sm_90" and so on. The module is left as it is. `with_ir`: comments hold the IR,
// too, so that the stand-in for the driver in tests can run it.
absl::StatusOr<KernelImage> MakeKernelImage(const llvm::Module& module,
                                            const std::string& architecture, bool with_ir);

// The IR's bitcode in such a text; "" where there is none.
std::string IrOfImage(std::string_view image);

}  // namespace assay::gpu
