// Computes how often a window fits, without overflow.
#include "spec/ops/shape_rules/window.h"

#include "spec/ops/shape_checks.h"

namespace assay {
namespace {

// (size - 1) * dilation + 1, 0 for nothing; false when that overflows.
bool Dilate(int64_t size, int64_t dilation, int64_t* dilated) {
  *dilated = 0;
  if (size == 0) return true;
  return !__builtin_mul_overflow(size - 1, dilation, dilated) &&
         !__builtin_add_overflow(*dilated, int64_t{1}, dilated);
}

}  // namespace

absl::StatusOr<int64_t> WindowCount(const OpSite& site, int64_t d, const WindowDim& window,
                                    int64_t size) {
  const struct {
    std::string_view name;
    int64_t value;
  } positive[] = {{"size", window.size},
                  {"stride", window.stride},
                  {"lhs_dilate", window.base_dilation},
                  {"rhs_dilate", window.window_dilation}};
  for (const auto& [name, value] : positive) {
    if (value >= 1) continue;
    return SiteError(site, "the window's ", name, " in dimension ", d, " is ", value,
                     ", want at least 1");
  }
  int64_t base, reach;
  const bool fits = Dilate(size, window.base_dilation, &base) &&
                    !__builtin_add_overflow(base, window.low, &base) &&
                    !__builtin_add_overflow(base, window.high, &base) &&
                    Dilate(window.size, window.window_dilation, &reach);
  if (!fits) {
    return SiteError(site, "padding and dilation of dimension ", d, " of size ", size,
                     " give a size of 2^63 or more");
  }
  if (base <= 0 || reach > base) return 0;
  return (base - reach) / window.stride + 1;
}

}  // namespace assay
