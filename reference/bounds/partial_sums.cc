// Counts, for every power of two, the partial sums that may be as large as that.
#include "reference/bounds/partial_sums.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::reference {
namespace {

constexpr double kNoBound = std::numeric_limits<double>::infinity();
// Room for the errors of computing the bound itself, and for roundings by way of f32.
constexpr double kRoom = 1 + 0x1p-15;

double HalfUnitOf(double size, RoundedTo format) {
  if (size == 0) return 0;
  return std::ldexp(1.0, std::max(std::ilogb(size), format.least_exponent) - format.precision);
}

// Element m: the sum of the m largest.
std::vector<double> SumsOfLargest(std::vector<double> sizes, int64_t count) {
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  std::vector<double> sums(static_cast<size_t>(count) + 1);
  for (size_t m = 1; m < sums.size(); ++m)
    sums[m] = sums[m - 1] + (m <= sizes.size() ? sizes[m - 1] : 0);
  return sums;
}

// Limits of the partial sums of n terms.
struct PartialSizes {
  std::vector<double> of_largest;  // element m: m terms together
  // Element m: a partial sum of m terms, with the errors of its own additions.
  std::vector<double> reach;
  int64_t terms() const { return static_cast<int64_t>(reach.size()) - 1; }
};

// The number of additions whose result may be at least `threshold`, `end` being the size of a
// partial sum that lacks no term. Such a result has at least a terms and lacks at least b. Among
// the trees over n leaves the chain has the most nodes of at least a leaves, n - a + 1, so one
// subtree that lacks b of them has n - a - b + 1, and two that are apart have n - 2 a + 2.
int64_t AdditionsFrom(double threshold, double end, const PartialSizes& sizes) {
  const int64_t n = sizes.terms();
  const auto first =
      std::lower_bound(sizes.reach.begin() + 2, sizes.reach.end(), threshold) - sizes.reach.begin();
  const auto lacking =
      std::lower_bound(sizes.of_largest.begin(), sizes.of_largest.end(), threshold - end) -
      sizes.of_largest.begin();
  if (first > n || lacking >= n) return 0;
  int64_t count = std::max<int64_t>(n - first - lacking + 1, 0);
  if (2 * first <= n) count = std::max<int64_t>(count, n - 2 * first + 2);
  return std::min(count, n - 1);
}

double ErrorWith(const PartialSizes& sizes, double end, RoundedTo format) {
  const int64_t additions = sizes.terms() - 1;
  double error = 0;
  for (int exponent = std::ilogb(sizes.reach.back());; --exponent) {
    const double threshold = std::ldexp(1.0, exponent), half = HalfUnitOf(threshold, format);
    const int64_t count = AdditionsFrom(threshold, end, sizes);
    if (count == additions || exponent <= format.least_exponent)
      return error + half * static_cast<double>(additions);
    error += (half - HalfUnitOf(threshold / 2, format)) * static_cast<double>(count);
  }
}

}  // namespace

void PartialSums::Add(double low, double high) {
  if (low == 0 && high == 0) return;
  if (++count_ > kMostTerms) return;
  if (high > 0) positive_.push_back(high);
  if (low < 0) negative_.push_back(-low);
}

double PartialSums::LargestError(double whole, RoundedTo format) const {
  if (count_ < 2) return 0;
  if (count_ > kMostTerms) return kNoBound;
  PartialSizes sizes;
  sizes.of_largest = SumsOfLargest(positive_, count_);
  const std::vector<double> others = SumsOfLargest(negative_, count_);
  for (size_t m = 0; m < others.size(); ++m)
    sizes.of_largest[m] = kRoom * std::max(sizes.of_largest[m], others[m]);
  // The additions of a subtree, ordered by their terms, have at most 2, 3, ... of them. Their
  // errors are part of the result that is rounded next.
  sizes.reach = sizes.of_largest;
  double error = 0;
  for (size_t m = 2; m < sizes.reach.size(); ++m) {
    sizes.reach[m] += error;
    error += HalfUnitOf(sizes.reach[m], format);
  }
  if (!std::isfinite(sizes.reach.back())) return kNoBound;
  // A smaller error makes the last partial sums smaller, and these the error.
  constexpr int kRounds = 3;
  for (int round = 0; round < kRounds; ++round)
    error = std::min(error, ErrorWith(sizes, whole + error, format));
  return error * kRoom;
}

}  // namespace assay::reference
