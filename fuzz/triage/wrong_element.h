// The element that a bug page's script looks at, and how it tells what was seen there from what is
// right and from what is wrong in another way.
#pragma once

#include <string>

#include "spec/numerics/expectation.h"
#include "spec/types/literal.h"

namespace assay {

// The first element of the answer that is wrong.
struct WrongElement {
  int64_t output = -1, element = 0;  // of the leaves, row-major; -1: no answer is wrong
  std::string test;                  // Python: True of numpy's scalar `got` that was seen
  std::string allowed = "False";     // Python: True of what may stand there
};

// `right`: what the oracle allows; nullptr if it said nothing.
WrongElement ElementOf(const Literal& answer, const ElementFailure& at, const Expectation* right);

}  // namespace assay
