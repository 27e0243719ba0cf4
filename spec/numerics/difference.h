// Says in a few words how a wrong element differs from the right one, for people who look for the
// cause: what was lost, what appeared, in whose place it stands.
#pragma once

#include <cstdint>
#include <string>

#include "spec/types/literal.h"

namespace assay {

// "a NaN is lost", "the sign is wrong", "it saturates", "only the low 4 bits are right". "" where
// nothing general can be said. `right` is one of the right values; both are arrays of one shape.
std::string DifferenceInWords(const Literal& right, const Literal& answer, int64_t element);

// Says that the answer is the right one but moved: "the answer is the right one moved by -1
// (element i is that of i - 1)". Returns "" if it is not, if the elements cannot tell, or beyond
// 2^20 elements.
std::string MoveInWords(const Literal& right, const Literal& answer);

}  // namespace assay
