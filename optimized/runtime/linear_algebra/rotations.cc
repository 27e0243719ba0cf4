// Applies rotations to panels of columns.
#include "optimized/runtime/linear_algebra/rotations.h"

#include <algorithm>

#include "optimized/runtime/run_context.h"

namespace assay::linear_algebra {
namespace {

// Columns of a panel: rows of it are loaded as whole cache lines.
constexpr int64_t kPanel = 32;

void TurnRows(double* a, double* b, int64_t count, double cosine, double sine) {
  for (int64_t j = 0; j < count; ++j) {
    const double x = a[j], y = b[j];
    a[j] = cosine * x + sine * y;
    b[j] = cosine * y - sine * x;
  }
}

}  // namespace

void RowRotations::Apply() {
  const int64_t panels = (columns_ + kPanel - 1) / kPanel;
  const int64_t count = turns_.size();
  context_.Split(panels, 1, [&](int64_t begin, int64_t end) {
    for (int64_t panel = begin; panel < end; ++panel) {
      const int64_t first = panel * kPanel, width = std::min(kPanel, columns_ - first);
      for (int64_t k = 0; k < count; ++k) {
        double* a = values_ + turns_[k].row * columns_ + first;
        if (width == kPanel) {
          TurnRows(a, a + columns_, kPanel, turns_[k].cosine, turns_[k].sine);
        } else {
          TurnRows(a, a + columns_, width, turns_[k].cosine, turns_[k].sine);
        }
      }
    }
  });
  *context_.work += count * columns_;
  turns_.clear();
}

}  // namespace assay::linear_algebra
