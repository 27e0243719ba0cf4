// The table of architectures.
#include "optimized/gpu/target/architecture.h"

namespace assay::gpu {
namespace {

constexpr Architecture kArchitectures[] = {
    {"sm_80", "+ptx80", 32, 1024, 0x7FFFFFFF, 163 * 1024, 255, 65536, 4096, 8, 24, 0, true, 108,
     1410, 2039, 25, 2000},
    {"sm_90", "+ptx80", 32, 1024, 0x7FFFFFFF, 227 * 1024, 255, 65536, 4096, 16, 25, 13, true, 132,
     1980, 3350, 50, 2000},
    {"sm_100", "+ptx86", 32, 1024, 0x7FFFFFFF, 227 * 1024, 255, 65536, 4096, 16, 25, 25, false, 148,
     1980, 8000, 50, 2000},
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
