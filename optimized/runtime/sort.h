// Stable merge sort of the lines of an array, over places rather than values.
#pragma once

#include <cstdint>

namespace assay {

// Whether the element at place `left` goes before the one at `right`; places count elements of the
// whole array. An inconsistent answer gives some permutation.
using SortLessFn = uint8_t (*)(void** table, int64_t left, int64_t right);
// `order[p]` is the place within the line, in steps of the stride, that place p takes its element
// from; `first` is the line's first place in the array, `line` its number.
using SortMoveFn = void (*)(void** table, int64_t first, int64_t line, const int64_t* order);

void SortLines(void** table, SortLessFn less, SortMoveFn move, int64_t lines, int64_t size,
               int64_t stride);

}  // namespace assay
