// Finds the factors of each result element of dot and convolution.
#include "reference/values/product_sums.h"

#include <algorithm>

namespace assay::reference {

void DimList::Add(const Shape& shape, int64_t d) {
  sizes.push_back(shape.dimension(d));
  strides.push_back(RowMajorStrides(shape.dimensions())[d]);
}

int64_t DimList::Count() const {
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  return count;
}

ProductSums ProductSums::Only(const std::vector<int64_t>& elements) const {
  ProductSums some = *this;
  some.for_each_block = [all = for_each_block, width = column_size,
                         &elements](absl::FunctionRef<void(const Block&)> f) {
    all([&](const Block& block) {
      // Columns come in rising order, and so do the elements.
      auto at = std::lower_bound(elements.begin(), elements.end(), block.result);
      while (at != elements.end()) {
        const int64_t away = *at - block.result, column = away / block.result_step;
        if (column >= block.columns) break;
        if (away % block.result_step == 0) {
          f({.lhs = block.lhs,
             .rhs = block.rhs + column * width,
             .columns = 1,
             .result = at - elements.begin(),
             .runs = block.runs});
        }
        ++at;
      }
    });
  };
  return some;
}

}  // namespace assay::reference
