// Widths of intervals are compared with what shows.
#include "spec/numerics/sharpness.h"

#include <algorithm>

#include "spec/numerics/element_sizes.h"

namespace assay {
namespace {

// The bits of the significand of f32.
constexpr int kManyDigits = 24;

}  // namespace

double VisibleShare(ElementType type) {
  return Format(ComponentType(type)).precision() >= kManyDigits ? 0x1p-10 : 0x1p-6;
}

int64_t CountBlunt(const ArrayExpectation& leaf) {
  auto blunt = static_cast<int64_t>(leaf.choices.size());
  if (leaf.bounds.empty()) return blunt;
  const ElementType type = leaf.plain.element_type();
  const double share = VisibleShare(type);
  const double least = 16 * Format(ComponentType(type)).MinSubnormal();
  const double mean = RootMeanSquare(leaf);
  const int64_t parts = BoundsPerElement(type);
  auto is_blunt = [&](const ElementBound& bound, int64_t element) {
    if ((bound.flags & kUndecided) != 0) return true;
    if ((bound.flags & (kForced | kNotFinite | kByProperty)) != 0) return false;
    // The right answer may lie at one end and the wrong one at the other.
    const double width = 2 * bound.radius;
    return width > share * mean && width > share * Modulus(leaf, element) && width > least;
  };
  for (int64_t i = 0; i < leaf.plain.element_count(); ++i) {
    bool is_any_blunt = false;
    for (int64_t k = i * parts; k < (i + 1) * parts; ++k)
      is_any_blunt = is_any_blunt || is_blunt(leaf.bounds[k], i);
    if (is_any_blunt && !leaf.choices.contains(i)) ++blunt;
  }
  return blunt;
}

bool IsSharp(const Expectation& expectation) {
  return expectation.inconclusive.empty() &&
         std::all_of(expectation.leaves.begin(), expectation.leaves.end(),
                     [](const ArrayExpectation& leaf) { return CountBlunt(leaf) == 0; });
}

}  // namespace assay
