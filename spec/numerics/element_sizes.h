// How large the elements of an output are: what makes the bound of one useful, and what makes a
// mistake in it visible.
#pragma once

#include <cstdint>

#include "spec/numerics/expectation.h"

namespace assay {

// The centre of a real element, as an absolute value, or the modulus of a complex one; 0 if it is
// not finite.
double Modulus(const ArrayExpectation& leaf, int64_t element);

// The size of what was added up for an element; 0 if nobody noted it.
struct NotedSize {
  double magnitude = 0;
  bool of_known_terms = false;
};
NotedSize NotedSizeOf(const ArrayExpectation& leaf, int64_t element);

// The root mean square of the elements.
double RootMeanSquare(const ArrayExpectation& leaf);

}  // namespace assay
