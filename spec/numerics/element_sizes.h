// The sizes of an output's elements: they decide whether a bound is useful and whether a mistake is
// visible.
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

// The magnitude that was added up for an element counts up to this many times the root mean square
// of its output where the terms were not known (ElementBound::has_known_terms).
inline constexpr double kMostMagnitude = 4;

// The root mean square of the elements; of an array of floats, of its components.
double RootMeanSquare(const ArrayExpectation& leaf);
double RootMeanSquare(const Literal& floats);

}  // namespace assay
