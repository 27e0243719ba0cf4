// Measures how much room bounds leave for a mistake. A bound that is useful convicts what is
// plainly wrong; one that is sharp convicts every change of a result that shows.
#pragma once

#include <cstdint>

#include "spec/numerics/expectation.h"

namespace assay {

// A change of an element shows if it is larger than this part of the larger of the element and the
// root mean square of its output: 1/1024 of types with the digits of f32 and more, 1/64 of others.
double VisibleShare(ElementType type);

// The number of elements that are not sharp: an answer may be off by what shows and lie inside, or
// nobody knows which answers are right. Elements that are judged by a property are not among them.
int64_t CountBlunt(const ArrayExpectation& leaf);

// True if all elements of all outputs are sharp.
bool IsSharp(const Expectation& expectation);

}  // namespace assay
