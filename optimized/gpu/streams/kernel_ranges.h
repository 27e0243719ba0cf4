// The bytes that a launch reads and writes, as its code tells.
#pragma once

#include <cstdint>

#include "absl/types/span.h"
#include "optimized/gpu/simulator/simulator.h"
#include "optimized/gpu/streams/simulated_streams.h"

namespace assay::gpu {

// The attribute of a kernel's parameter that says what it points to, for whoever sees only
// addresses: "48 write", so many bytes that the program lets it write, or "48 read".
inline constexpr const char* kBytesAttribute = "assay-bytes";

// Adds the buffers among `arguments`, each as large as its argument says. One through which nothing
// is stored is read. `may_write` tells by argument what the program lets the kernel write: it
// counts where the code does not tell.
void AddRanges(const DecodedKernel& kernel, absl::Span<const KernelArgument> arguments,
               absl::Span<const uint8_t> may_write, StreamWork& work);

}  // namespace assay::gpu
