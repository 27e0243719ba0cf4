// Elements that are not unique one by one, like those of eigenvectors, are settled where all that
// their property is about was seen: they are right if it has the property, and wrong if not.
#pragma once

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "reference/values/value.h"

namespace assay::reference {

// An array of an instruction's result beside what was seen of it.
struct SeenArray {
  int64_t leaf;
  const Array* computed;
  Literal seen;
};

// The seen value has the property of the element; it has not; or nobody knows: parts of it were not
// seen, or hold infinities and NaN, of which no property says anything.
enum class Settled : uint8_t { kOpen, kRight, kWrong };

// By leaf and element. Joint choices are none of these: their elements have sets of their own.
using SettledElements = absl::flat_hash_map<int64_t, std::vector<Settled>>;
SettledElements SettledByProperty(absl::Span<const SeenArray> arrays);

// Makes what was seen the only right value of an element that is not NaN.
void SettleElement(const Literal& seen, int64_t element, ArrayExpectation& expected);

// Allows no value of a float element.
void RefuteElement(int64_t element, ArrayExpectation& expected);

}  // namespace assay::reference
