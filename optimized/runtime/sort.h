// Stable sorts and selections of the lines of an array, over places rather than values. Document:
// operation semantics chapter 10, Sort and TopK.
#pragma once

#include <cstdint>

namespace assay {

struct RunContext;

// Lines along a dimension: `size` elements each, `stride` apart.
struct SortShape {
  int64_t lines = 0, size = 0, stride = 1;
  int64_t key_bytes = 4;  // 4 or 8
};

// Nonzero if the element at place `left` goes before the one at `right`; places count elements of
// the whole array. An inconsistent answer gives some permutation.
using SortLessFn = uint8_t (*)(void** table, int64_t left, int64_t right);
// The keys of a line, uint32_t or uint64_t: smaller ones go first, equal ones keep their order.
using SortKeyFn = void (*)(void** table, int64_t first, void* keys);
// `order[p]` is the place within the line, in steps of the stride, that place p takes its element
// from; `first` is the line's first place in the array, `line` its number.
using SortMoveFn = void (*)(void** table, int64_t first, int64_t line, const int64_t* order);

// By merging; for comparisons that nothing is known of.
void SortLines(RunContext* context, const SortShape* shape, void** table, SortLessFn less,
               SortMoveFn move);
// By radix, for comparisons of a key.
void SortLinesByKey(RunContext* context, const SortShape* shape, void** table, SortKeyFn key,
                    SortMoveFn move);
// The `count` first of each line, in order, without sorting the others. `order` of the move has as
// many entries.
void SelectLinesByKey(RunContext* context, const SortShape* shape, int64_t count, void** table,
                      SortKeyFn key, SortMoveFn move);

}  // namespace assay
