// Joins lanes that are neighbours in the result.
#include "optimized/runtime/kernels/contraction_finish.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace assay {

void ContractionFinish::RunLines(const void* out, absl::Span<const int64_t> rows,
                                 const ContractionSide& lanes, int64_t first, int64_t count) const {
  std::vector<std::pair<int64_t, int64_t>> lines;  // place in the result, elements
  SidePlaces places;
  for (int64_t at = 0; at < count; at += SidePlaces::kMax) {
    const auto here = static_cast<int>(std::min<int64_t>(SidePlaces::kMax, count - at));
    Locate(lanes, first + at, here, places);
    for (int j = 0; j < here; ++j) {
      if (!lines.empty() && lines.back().first + lines.back().second == places.out[j]) {
        ++lines.back().second;
      } else {
        lines.emplace_back(places.out[j], 1);
      }
    }
  }
  const int64_t start = NumberOf(out);
  for (const int64_t row : rows) {
    for (const auto& [place, size] : lines) Run(start + row + place, size);
  }
}

}  // namespace assay
