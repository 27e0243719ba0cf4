#include "optimized/runtime/sort.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "optimized/runtime/compiled_call.h"

namespace assay {

ASSAY_CALLS_COMPILED_CODE void SortLines(void** table, SortLessFn less, SortMoveFn move,
                                         int64_t lines, int64_t size, int64_t stride) {
  std::vector<int64_t> order(size), merged(size);
  for (int64_t line = 0; line < lines; ++line) {
    const int64_t first = line / stride * stride * size + line % stride;
    std::iota(order.begin(), order.end(), int64_t{0});
    for (int64_t run = 1; run < size; run *= 2) {
      for (int64_t begin = 0; begin < size; begin += 2 * run) {
        const int64_t middle = std::min(begin + run, size), end = std::min(begin + 2 * run, size);
        int64_t left = begin, right = middle;
        for (int64_t to = begin; to < end; ++to) {
          // Equal elements keep their order: the right one goes first only if it must.
          const bool take_right =
              left == middle || (right < end && less(table, first + order[right] * stride,
                                                     first + order[left] * stride) != 0);
          merged[to] = order[take_right ? right++ : left++];
        }
      }
      order.swap(merged);
    }
    move(table, first, line, order.data());
  }
}

}  // namespace assay
