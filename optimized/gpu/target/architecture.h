// The GPUs that code is made for, as data. Documents: CUDA C++ Programming Guide, "Compute
// Capabilities" (limits), PTX ISA 8.8, the data sheets of A100, H100 and B200 (SXM; speeds).
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"

namespace assay::gpu {

struct Architecture {
  std::string_view name;          // "sm_90", as ptxas and LLVM name it
  std::string_view features;      // of LLVM: the version of PTX that knows the architecture
  uint32_t warp_size;             // threads
  uint32_t max_threads;           // of a block
  uint32_t max_grid_x;            // blocks
  uint32_t shared_bytes;          // of a block, at most
  uint32_t registers_per_thread;  // at most
  uint32_t registers;             // of a multiprocessor, 32 bits each
  uint32_t parameter_bytes;       // of a launch
  // Products that a tensor core adds at once, and the bits behind the point that it keeps.
  int tensor_terms;
  int tensor_fraction_bits;
  int tensor_f8_fraction_bits;  // of products of f8; 0: it takes none
  // Products of f64 on tensor cores are faster than fused multiply-adds of threads.
  bool has_fast_tensor_f64;
  // By these the simulator's clock goes.
  uint32_t multiprocessors;
  uint32_t megahertz;           // of a multiprocessor, which begins four warp instructions a cycle
  uint32_t memory_gigabytes;    // per second, of global memory
  uint32_t link_gigabytes;      // per second, between host and device
  uint32_t launch_nanoseconds;  // of a kernel or a copy that does nothing
};

// Bytes of shared memory that a kernel may declare, whatever the architecture; a block may be given
// more at its launch.
inline constexpr int64_t kDeclaredSharedBytes = 48 * 1024;

// Oldest first.
absl::Span<const Architecture> Architectures();
// nullptr: unknown.
const Architecture* FindArchitecture(std::string_view name);

}  // namespace assay::gpu
