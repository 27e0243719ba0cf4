// The rounding errors of a sum that is rounded at every addition, whatever the order of its terms.
// Document: operation semantics 1.7 (class ORDER); design "Tolerances are derived, not guessed".
#pragma once

#include <cstdint>
#include <vector>

namespace assay::reference {

// The format that every addition is rounded to: bits of the significand, least exponent of a normal
// number.
struct RoundedTo {
  int precision = 0, least_exponent = 0;
};

// The terms of one sum. A partial sum of m terms is no larger than the m largest terms of one sign,
// and one that lacks j terms is no further from the whole sum than the j largest.
class PartialSums {
 public:
  // More terms are not looked at: the bound of so many is of no use.
  static constexpr int64_t kMostTerms = 4096;

  // A term that lies between the two, which are finite.
  void Add(double low, double high);
  // The number of terms that are not zero.
  int64_t count() const { return count_; }

  // The most that all additions together may be off, each by half a unit of its result; `whole`:
  // the exact sum of all terms is no larger. Infinite for more than kMostTerms terms.
  double LargestError(double whole, RoundedTo format) const;

 private:
  int64_t count_ = 0;
  std::vector<double> positive_, negative_;  // sizes, at most
};

}  // namespace assay::reference
