// Sizes are read off the centres of bounds, and off the plain values where there are none.
#include "spec/numerics/element_sizes.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay {
namespace {

// The centre of slot k of a leaf, 0 if it is not finite.
double Centre(const ArrayExpectation& leaf, int64_t k) {
  const bool stored =
      !leaf.bounds.empty() && (leaf.bounds[k].flags & (kForced | kNotFinite | kUndecided)) == 0;
  const double value = stored ? leaf.bounds[k].centre
                       : leaf.plain.element_type() == ElementType::kF32
                           ? leaf.plain.data<float>()[k]
                           : leaf.plain.GetComponent(k);
  return std::isfinite(value) ? value : 0;
}

// The root mean square of `count` sizes, scaled so that squares neither overflow nor vanish.
template <typename F>
double RootMeanSquareOf(int64_t count, F size) {
  double largest = 0, sum = 0;
  for (int64_t i = 0; i < count; ++i) largest = std::max(largest, size(i));
  if (largest == 0) return 0;
  for (int64_t i = 0; i < count; ++i) {
    const double part = size(i) / largest;
    sum += part * part;
  }
  return largest * std::sqrt(sum / static_cast<double>(count));
}

}  // namespace

double Modulus(const ArrayExpectation& leaf, int64_t element) {
  if (!IsComplex(leaf.plain.element_type())) return std::fabs(Centre(leaf, element));
  return std::min(std::hypot(Centre(leaf, 2 * element), Centre(leaf, 2 * element + 1)),
                  std::numeric_limits<double>::max());
}

NotedSize NotedSizeOf(const ArrayExpectation& leaf, int64_t element) {
  if (leaf.bounds.empty()) return {};
  const int64_t parts = BoundsPerElement(leaf.plain.element_type());
  NotedSize noted;
  for (int64_t k = element * parts; k < (element + 1) * parts; ++k) {
    if (leaf.bounds[k].magnitude() < noted.magnitude) continue;
    noted = {leaf.bounds[k].magnitude(), leaf.bounds[k].has_known_terms()};
  }
  return noted;
}

double RootMeanSquare(const ArrayExpectation& leaf) {
  return RootMeanSquareOf(leaf.plain.element_count(), [&](int64_t i) { return Modulus(leaf, i); });
}

double RootMeanSquare(const Literal& floats) {
  return RootMeanSquareOf(floats.component_count(), [&](int64_t i) {
    const double size = std::fabs(floats.GetComponent(i));
    return std::isfinite(size) ? size : 0;
  });
}

}  // namespace assay
