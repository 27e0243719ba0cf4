// An array seen as lines along one of its dimensions: linear indices of the elements of a line, and
// of the runs of neighbours that take the same step along all lines.
#pragma once

#include "absl/types/span.h"
#include "spec/types/shape.h"

namespace assay::reference {

// Element (o, at, i), for o < outer, at < length and i < inner, has the linear index
// (o * length + at) * inner + i. Line o * inner + i are the elements with these o and i.
struct Lines {
  int64_t count = 1;   // number of lines, outer * inner
  int64_t length = 1;  // size of the dimension
  int64_t inner = 1;  // product of the sizes behind the dimension: distance of neighbours in a line
  int64_t outer = 1;  // product of the sizes before the dimension

  Lines() = default;
  Lines(absl::Span<const int64_t> sizes, int64_t dimension)
      : length(sizes[static_cast<size_t>(dimension)]) {
    for (int64_t d = 0; d < static_cast<int64_t>(sizes.size()); ++d)
      if (d != dimension) (d < dimension ? outer : inner) *= sizes[static_cast<size_t>(d)];
    count = outer * inner;
  }
  Lines(const Shape& shape, int64_t dimension) : Lines(shape.dimensions(), dimension) {}

  // Linear index of element `at` of a line.
  int64_t Element(int64_t line, int64_t at) const {
    return line / inner * inner * length + line % inner + at * inner;
  }
  // Linear index of (o, at, 0), the first of the `inner` elements (o, at, 0), (o, at, 1), ...
  int64_t Block(int64_t o, int64_t at) const { return (o * length + at) * inner; }
};

}  // namespace assay::reference
