// Elements that are not unique one by one, like those of eigenvectors, are settled where all that
// their property is about was seen and has it.
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

// By leaf: which elements are right, for what was seen has their property. Joint choices are none
// of these: their elements have sets of their own.
using SettledElements = absl::flat_hash_map<int64_t, std::vector<bool>>;
SettledElements SettledByProperty(absl::Span<const SeenArray> arrays);

// Makes what was seen the only right value of an element that is not NaN.
void SettleElement(const Literal& seen, int64_t element, ArrayExpectation& expected);

}  // namespace assay::reference
