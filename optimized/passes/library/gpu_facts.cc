// The table of GPUs, oldest first.
#include "optimized/passes/library/gpu_facts.h"

namespace assay {
namespace {

constexpr int64_t kMebibyte = int64_t{1} << 20;

constexpr GpuFacts kFacts[] = {
    {"sm_60", 0, 0, 4, false, 1e-5, 4 * kMebibyte}, {"sm_70", 8, 0, 4, false, 0, 64 * kMebibyte},
    {"sm_75", 8, 16, 32, false, 0, 64 * kMebibyte}, {"sm_80", 8, 16, 32, true, 0, 256 * kMebibyte},
    {"sm_90", 8, 16, 32, true, 0, 256 * kMebibyte}, {"sm_100", 8, 16, 32, true, 0, 256 * kMebibyte},
};

}  // namespace

absl::Span<const GpuFacts> AllGpuFacts() { return kFacts; }

const GpuFacts* GpuFacts::Find(std::string_view name) {
  for (const GpuFacts& row : kFacts)
    if (row.name == name) return &row;
  return nullptr;
}

const GpuFacts& GpuFacts::Default() { return *Find("sm_90"); }

int64_t GpuFacts::MultipleOf(ElementType type) const {
  switch (type) {
    case ElementType::kF16:
      return half_multiple;
    case ElementType::kBF16:
      return has_bf16 ? half_multiple : 0;
    case ElementType::kS8:
      return byte_multiple;
    default:
      return 0;
  }
}

}  // namespace assay
