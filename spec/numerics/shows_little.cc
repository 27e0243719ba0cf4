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
  int64_t zeros = 0, nans = 0, equal = 0;
  for (int64_t i = 0; i < count; ++i) {
    zeros += matches(i, /*zero=*/true) ? 1 : 0;
    nans += IsNanAt(leaf, i) ? 1 : 0;
    equal += matches(i, /*zero=*/false) ? 1 : 0;
  }
  auto nearly_all = [&](int64_t some) { return 20 * some >= 19 * count; };
  return nearly_all(zeros) || nearly_all(nans) || (count >= 4 && nearly_all(equal));
}

}  // namespace

bool ShowsLittle(const Literal& answer) {
  for (const Literal* leaf : Leaves(answer)) {
    if (!IsTrivial(*leaf)) return false;
  }
  return true;
}

}  // namespace assay
