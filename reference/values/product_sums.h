// Results whose elements are sums of products of an element of each operand: dot, convolution. The
// products of each element are listed once; plain values and bounds are sums over them.
#pragma once

#include <functional>

#include "absl/functional/function_ref.h"
#include "reference/values/index_map.h"

namespace assay::reference {

// Sizes and row-major strides of some dimensions of an operand, in an order of choice.
struct DimList {
  DimVector sizes, strides;
  void Add(const Shape& shape, int64_t d);
  int64_t Count() const;
  // Calls f(linear index) for every element when these dimensions are counted row-major.
  template <typename F>
  void ForEachPlace(F f) const {
    if (Count() == 0) return;
    DimVector index(sizes.size(), 0);
    do {
      f(LinearIndex(strides, index));
    } while (NextIndex(sizes, absl::MakeSpan(index)));
  }
};

struct ProductSums {
  // The operands' dimensions in the order in which their elements are used: "arranged".
  DimList lhs, rhs;
  // Products come in runs, along which both arranged operands are contiguous.
  int64_t length = 0;
  struct Run {
    int64_t lhs = 0, rhs = 0;
  };
  // Arranged elements of rhs that belong to one column of a block.
  int64_t column_size = 0;
  // Result element `result + c * result_step`, for c < columns, is the sum over the runs and
  // k < length of lhs[block.lhs + run.lhs + k] * rhs[block.rhs + c * column_size + run.rhs + k].
  struct Block {
    int64_t lhs = 0, rhs = 0, columns = 0, result = 0, result_step = 1;
    absl::Span<const Run> runs;
  };
  std::function<void(absl::FunctionRef<void(const Block&)>)> for_each_block;

  // The sums for some result elements only, given by rising linear indices, which outlive the sums:
  // element `elements[i]` becomes element i of the result.
  ProductSums Only(const std::vector<int64_t>& elements) const;

  // Calls f(arranged index of lhs, of rhs) for every product of a column.
  template <typename F>
  void ForEachProduct(const Block& block, int64_t column, F f) const {
    for (const Run& run : block.runs) {
      const int64_t a = block.lhs + run.lhs, b = block.rhs + column * column_size + run.rhs;
      for (int64_t k = 0; k < length; ++k) f(a + k, b + k);
    }
  }
};

}  // namespace assay::reference
