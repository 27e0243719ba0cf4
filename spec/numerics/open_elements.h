// The elements of an answer that were not called right, one by one, for those who look further.
#pragma once

#include <cstdint>
#include <vector>

#include "spec/numerics/expectation.h"

namespace assay {

// The elements of `got` that lie outside their bounds, are undecided, or whose bounds are too wide
// to convict, as rising linear indices.
std::vector<int64_t> OpenElements(const ArrayExpectation& expected, const Literal& got);

// The open elements that lie outside their bounds.
std::vector<int64_t> FailedElements(const ArrayExpectation& expected, const Literal& got);

// The open elements that do not lie outside their bounds: nobody knows whether they are right.
std::vector<int64_t> UndecidedElements(const ArrayExpectation& expected, const Literal& got);

}  // namespace assay
