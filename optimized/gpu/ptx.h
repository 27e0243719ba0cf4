// Kernels as text of PTX, by LLVM's NVPTX target.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "llvm/IR/Module.h"
#include "optimized/gpu/target/architecture.h"

namespace assay::gpu {

absl::StatusOr<std::string> ToPtx(const llvm::Module& kernels, const Architecture& architecture);

}  // namespace assay::gpu
