// The one-dimensional lines of an array along one dimension, which sort and top-k put in order.
#pragma once

#include "spec/types/shape.h"

namespace assay::reference {

struct Lines {
  int64_t count = 1;   // of lines
  int64_t length = 0;  // elements of each
  int64_t inner = 1;   // distance of neighbours

  Lines(const Shape& shape, int64_t dimension) : length(shape.dimension(dimension)) {
    for (int64_t d = 0; d < shape.rank(); ++d) {
      if (d != dimension) count *= shape.dimension(d);
      if (d > dimension) inner *= shape.dimension(d);
    }
  }
  // Linear index of element `at` of a line.
  int64_t Element(int64_t line, int64_t at) const {
    return line / inner * inner * length + line % inner + at * inner;
  }
};

}  // namespace assay::reference
