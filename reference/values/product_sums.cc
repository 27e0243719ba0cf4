// Finds the factors of each result element of dot and convolution.
#include "reference/values/product_sums.h"

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

}  // namespace assay::reference
