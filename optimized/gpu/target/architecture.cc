// The table of architectures.
#include "optimized/gpu/target/architecture.h"

namespace assay::gpu {
namespace {

constexpr Architecture kArchitectures[] = {
    {"sm_80", "+ptx80", 32, 1024, 0x7FFFFFFF, 163 * 1024, 255, 65536, 4096, 8, 24, 0, true},
    {"sm_90", "+ptx80", 32, 1024, 0x7FFFFFFF, 227 * 1024, 255, 65536, 4096, 16, 25, 13, true},
    {"sm_100", "+ptx86", 32, 1024, 0x7FFFFFFF, 227 * 1024, 255, 65536, 4096, 16, 25, 25, false},
};

}  // namespace

absl::Span<const Architecture> Architectures() { return kArchitectures; }

const Architecture* FindArchitecture(std::string_view name) {
  for (const Architecture& each : kArchitectures) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

}  // namespace assay::gpu
