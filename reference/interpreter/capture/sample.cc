// Draws elements where mistakes are likely to show first, and others.
#include "reference/interpreter/capture/sample.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "spec/numerics/expectation.h"

namespace assay::reference {
namespace {

// Kernels work on tiles of these sizes; what is wrong at an edge is beside a multiple of one.
constexpr int64_t kTileSizes[] = {4, 8, 16, 32, 64, 128, 256};

// A sequence of numbers that are the same on every machine (splitmix64).
class Draw {
 public:
  explicit Draw(uint64_t seed) : state_(seed) {}
  int64_t Below(int64_t n) {
    uint64_t x = state_ += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return static_cast<int64_t>((x ^ x >> 31) % static_cast<uint64_t>(n));
  }

 private:
  uint64_t state_;
};

// The first and the last index of every dimension.
void AddCorners(const Shape& shape, std::vector<int64_t>& elements) {
  const DimVector strides = RowMajorStrides(shape.dimensions());
  elements.push_back(0);
  for (int64_t d = 0; d < std::min<int64_t>(shape.rank(), 6); ++d) {
    if (shape.dimension(d) == 1) continue;
    const size_t count = elements.size();
    for (size_t k = 0; k < count; ++k)
      elements.push_back(elements[k] + (shape.dimension(d) - 1) * strides[d]);
  }
}

// The least and the largest number, and the first that are none, `most` at most.
void AddExtremes(const Literal& array, int64_t most, std::vector<int64_t>& elements) {
  const int64_t parts = BoundsPerElement(array.element_type());
  if (parts == 0) return;
  int64_t least = 0, largest = 0, smallest = 0, specials = 0;
  double low = HUGE_VAL, high = -HUGE_VAL, size = HUGE_VAL;
  for (int64_t slot = 0; slot < array.component_count(); ++slot) {
    const double value = array.GetComponent(slot);
    if (!std::isfinite(value)) {
      if (specials++ < most) elements.push_back(slot / parts);
      continue;
    }
    if (value < low) {
      low = value;
      least = slot / parts;
    }
    if (value > high) {
      high = value;
      largest = slot / parts;
    }
    if (std::fabs(value) < size) {
      size = std::fabs(value);
      smallest = slot / parts;
    }
  }
  for (int64_t element : {least, largest, smallest}) elements.push_back(element);
}

// An element one of whose indices is at an edge of a tile, or the last before it.
int64_t AtEdge(const Shape& shape, Draw& draw) {
  const DimVector strides = RowMajorStrides(shape.dimensions());
  const int64_t special = draw.Below(shape.rank());
  int64_t element = 0;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const int64_t size = shape.dimension(d);
    int64_t index = draw.Below(size);
    if (d == special) {
      const int64_t tile = kTileSizes[draw.Below(std::size(kTileSizes))];
      index = std::clamp<int64_t>((index + tile) / tile * tile - draw.Below(2), 0, size - 1);
    }
    element += index * strides[d];
  }
  return element;
}

}  // namespace

std::vector<int64_t> ChooseSample(const Literal& array, int64_t most, uint64_t seed) {
  const Shape& shape = array.shape();
  std::vector<int64_t> elements;
  if (array.element_count() == 0) return elements;
  if (shape.rank() == 0) return {0};
  AddCorners(shape, elements);
  AddExtremes(array, std::max<int64_t>(most / 8, 4), elements);
  Draw draw(seed);
  while (static_cast<int64_t>(elements.size()) < most) {
    elements.push_back(draw.Below(3) == 0 ? AtEdge(shape, draw)
                                          : draw.Below(array.element_count()));
  }
  std::sort(elements.begin(), elements.end());
  elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
  return elements;
}

Literal ElementsOf(const Literal& array, const std::vector<int64_t>& elements) {
  const int64_t count = static_cast<int64_t>(elements.size());
  Literal list(Shape::Array(array.element_type(), {count}));
  const size_t width = StorageBytes(array.element_type());
  for (size_t k = 0; k < elements.size(); ++k) {
    std::memcpy(list.bytes().data() + k * width,
                array.bytes().data() + static_cast<size_t>(elements[k]) * width, width);
  }
  return list;
}

}  // namespace assay::reference
