// Counts zeros, NaNs and equal elements of an answer.
#include "spec/numerics/shows_little.h"

#include "spec/numerics/expectation.h"
#include "spec/types/float_format.h"

namespace assay {
namespace {

bool IsNanAt(const Literal& leaf, int64_t i) {
  return IsFloat(leaf.element_type()) && IsNanCode(Format(leaf.element_type()), leaf.GetBits(i));
}

bool IsTrivial(const Literal& leaf) {
  const int64_t count = leaf.element_count();
  const int64_t parts = IsComplex(leaf.element_type()) ? 2 : 1;
  // True if element i is zero, or equal to element 0, in all of its parts.
  auto matches = [&](int64_t i, bool zero) {
    for (int64_t k = 0; k < parts; ++k) {
      const uint64_t wanted = zero ? 0 : leaf.GetComponentBits(k);
      if (leaf.GetComponentBits(parts * i + k) != wanted) return false;
    }
    return true;
  };
  // Elements that are none of the kind: where there are too many, no more need to be looked at.
  int64_t no_zeros = 0, no_nans = 0, different = 0;
  const auto nearly_none = [count](int64_t some) { return 20 * some <= count; };
  const auto is_trivial = [&] {
    return nearly_none(no_zeros) || nearly_none(no_nans) || (count >= 4 && nearly_none(different));
  };
  for (int64_t i = 0; i < count && is_trivial(); ++i) {
    no_zeros += matches(i, /*zero=*/true) ? 0 : 1;
    no_nans += IsNanAt(leaf, i) ? 0 : 1;
    different += matches(i, /*zero=*/false) ? 0 : 1;
  }
  return is_trivial();
}

}  // namespace

bool ShowsLittle(const Literal& answer) {
  for (const Literal* leaf : Leaves(answer)) {
    if (!IsTrivial(*leaf)) return false;
  }
  return true;
}

}  // namespace assay
