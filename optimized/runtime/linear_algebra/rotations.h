// Plane rotations of the rows of matrices that are collected while an iteration runs on a few
// diagonals, and applied many at a time while a panel of columns is in the cache. Every element
// goes through the same operations for any number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "optimized/runtime/linear_algebra/matrix.h"

namespace assay {
struct RunContext;
}

namespace assay::linear_algebra {

// (cosine, sine) of the turn that makes (x, y) a multiple of (1, 0), and the length of (x, y).
struct Givens {
  Givens(double x, double y) : length(std::hypot(x, y)) {
    if (length == 0) return;
    cosine = x / length;
    sine = y / length;
  }
  double length, cosine = 1, sine = 0;
};

class RowRotations {
 public:
  // `target` outlives this. Nothing is done to a matrix without columns.
  template <typename S>
  RowRotations(const RunContext& context, Matrix<S>& target)
      : context_(context),
        values_(reinterpret_cast<double*>(target.values.data())),
        columns_(target.columns * static_cast<int64_t>(sizeof(S) / sizeof(double))) {}

  // Rows k and k + 1 become c a + s b and c b - s a.
  void Add(int64_t k, const Givens& turn) {
    if (columns_ == 0) return;
    turns_.push_back({k, turn.cosine, turn.sine});
    if (static_cast<int64_t>(turns_.size()) >= kMostTurns) Apply();
  }
  void Apply();

 private:
  static constexpr int64_t kMostTurns = 1 << 14;
  struct Turn {
    int64_t row;
    double cosine, sine;
  };
  const RunContext& context_;
  double* values_;
  int64_t columns_;
  std::vector<Turn> turns_;
};

}  // namespace assay::linear_algebra
