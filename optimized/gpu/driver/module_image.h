// LLVM IR for a GPU as what its driver loads.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "llvm/IR/Module.h"

namespace assay::gpu {

// PTX text for "sm_80", "sm_90" and so on. The module is left as it is.
absl::StatusOr<std::string> PtxOf(const llvm::Module& module, const std::string& architecture);

// PTX whose comments hold the IR, too, so that the stand-in for the driver in tests can run it.
absl::StatusOr<std::string> PtxWithIr(const llvm::Module& module, const std::string& architecture);

// The IR's bitcode in such a text; "" where there is none.
std::string IrOfImage(std::string_view image);

}  // namespace assay::gpu
