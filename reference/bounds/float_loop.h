// The common case of the bounds of f32 sums and products, made for big arrays: numbers and plain
// intervals, far from subnormals and overflow. What it stores is what the general rule stores; any
// other element is left to that.
#pragma once

#include "reference/bounds/elements.h"

namespace assay::reference {

// An operand of the loop.
class FloatOperand {
 public:
  FloatOperand(const Array& array, Consumer consumer)
      : values_(array.literal.data<float>().data()),
        bounds_(array.bounds.empty() ? nullptr : array.bounds.data()),
        reads_view_(consumer == Consumer::kSum) {}

  // Element i as [centre - radius, centre + radius]; false for what the loop does not take.
  bool Read(int64_t i, double& centre, double& radius, bool& has_view) const {
    centre = values_[i];
    radius = 0;
    has_view = false;
    if (bounds_ == nullptr) return true;
    const ElementBound& bound = bounds_[i];
    if (bound.flags == kForced) return true;
    has_view = bound.flags == (uint32_t{kForced} | kSumView);
    if (has_view && !reads_view_) return true;
    if (!has_view && bound.flags != 0) return false;
    centre = bound.centre + bound.centre_low;
    radius = bound.radius;
    return true;
  }

 private:
  const float* values_;
  const ElementBound* bounds_;
  bool reads_view_;
};

inline constexpr double kLeastLoopFloat = 0x1p-126;
inline constexpr double kMostLoopFloat = 0x1p+120;

// No value inside is subnormal or close to overflow, nor NaN.
inline bool IsInLoopRange(double centre, double radius) {
  const double magnitude = std::fabs(centre);
  return (magnitude - radius >= kLeastLoopFloat && magnitude + radius <= kMostLoopFloat) ||
         (centre == 0 && radius == 0);
}

// Bounds element i of `Rule` on f32. False, with nothing done, if it is not of the common case.
template <typename Rule>
bool BoundInFloatLoop(const Freedoms& freedoms, const FloatOperand& lhs, const FloatOperand& rhs,
                      const float* plain, Array& result, int64_t i) {
  constexpr bool kIsProduct = Rule::kView == View::kSum;
  double a, a_radius, b, b_radius;
  bool a_view, b_view;
  if (!lhs.Read(i, a, a_radius, a_view) || !rhs.Read(i, b, b_radius, b_view)) return false;
  // Scaling by a power of two may pass an operand's view on.
  if (kIsProduct && freedoms.contract && (a_view || b_view)) return false;
  if (!IsInLoopRange(a, a_radius) || !IsInLoopRange(b, b_radius)) return false;
  const double got = plain[i];
  if (a_radius == 0 && b_radius == 0) {
    if (!IsInLoopRange(got, 0)) return false;
    if (!kIsProduct || !freedoms.contract) {
      // A view without radius is read like a number, but is none: its plain value may be another.
      return !a_view && !b_view;
    }
    const double exact = a * b;
    if (exact == got) return true;
    if (result.bounds.empty()) MakeBounds(result);
    const double radius = std::max(std::fabs(exact) * kSlop<double>, std::fabs(exact - got));
    result.bounds[i] = {exact, 0, radius, uint32_t{kForced} | kSumView};
    return true;
  }
  const Range<double> exact =
      Rule::Finite(Range<double>{a, a_radius, 0}, Range<double>{b, b_radius, 0});
  if (!IsInLoopRange(exact.centre, exact.radius)) return false;
  const double magnitude = std::fabs(exact.centre) + exact.radius;
  const double slop = magnitude * kSlop<double>;
  double centre = exact.centre, radius = exact.radius;
  if (kIsProduct && freedoms.contract) {
    radius += UlpAt<float>(magnitude) / 2 + slop;
  } else {
    const double low = static_cast<float>(exact.low() - slop);
    const double high = static_cast<float>(exact.high() + slop);
    const Range<double> hull = Range<double>::Hull(low, high);
    centre = hull.centre;
    radius = hull.radius;
    if (radius == 0 && centre == got) return IsInLoopRange(centre, 0);
  }
  if (!IsInLoopRange(centre, radius)) return false;
  if (result.bounds.empty()) MakeBounds(result);
  result.bounds[i] = {centre, 0, radius, 0};
  return true;
}

}  // namespace assay::reference
