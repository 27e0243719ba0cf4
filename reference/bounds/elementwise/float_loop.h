// The common case of the bounds of f32 sums and products, made for big arrays: numbers and plain
// intervals, far from subnormals and overflow. It stores exactly what the general rule stores, and
// leaves any other element to that rule.
#pragma once

#include "reference/bounds/elements.h"

namespace assay::reference {

inline constexpr double kLeastLoopFloat = 0x1p-126;
inline constexpr double kMostLoopFloat = 0x1p+120;

// 1 if no value inside is subnormal, close to overflow or NaN, else 0. It is a number, made without
// branches, for loops that take several elements at once.
inline int IsInLoopRange(double centre, double radius) {
  const double magnitude = std::fabs(centre);
  const int is_normal =
      (magnitude - radius >= kLeastLoopFloat) & (magnitude + radius <= kMostLoopFloat);
  return is_normal | (magnitude + radius == 0);
}

// Elements of a batch.
inline constexpr int kBatch = 64;

// Bounds elements [begin, begin + count) of `Rule` on f32, but for those that are not of the common
// case: returns how many they are, and which in `special`. Rules: AddBound, SubtractBound,
// MultiplyBound.
template <typename Rule>
int BoundFloatBatch(const OpContext& op, Array& result, int64_t begin, int count,
                    int (&special)[kBatch]);

// True if one of the elements is subnormal, or the least normal number, which may have been made of
// a subnormal one by rounding.
bool AnySubnormal(absl::Span<const float> values);

}  // namespace assay::reference
