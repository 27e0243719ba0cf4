// The decoder notes of each argument whether something is stored through it.
#include "optimized/gpu/streams/kernel_ranges.h"

#include "optimized/gpu/simulator/kernel_code.h"

namespace assay::gpu {

void AddRanges(const DecodedKernel& kernel, absl::Span<const KernelArgument> arguments,
               absl::Span<const uint8_t> may_write, StreamWork& work) {
  const KernelCode& code = kernel.code();
  for (size_t k = 0; k < arguments.size() && k < code.arguments.size(); ++k) {
    if (!code.arguments[k].is_pointer || arguments[k].bytes == 0) continue;
    const bool may = k >= may_write.size() || may_write[k] != 0;
    const bool is_written = code.writes_unknown ? may : code.arguments[k].is_written;
    (is_written ? work.writes : work.reads).push_back({arguments[k].bits, arguments[k].bytes});
  }
}

}  // namespace assay::gpu
