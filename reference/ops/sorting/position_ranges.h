// The positions that elements of a line may take where their order is not certain, and what the
// positions then hold. Sort and top-k share it.
#pragma once

#include <vector>

#include "reference/values/lines.h"
#include "reference/values/value.h"

namespace assay::reference {

// In lines longer than this not all pairs of elements are compared: where rounding decides about
// their order, they are undecided as a whole.
inline constexpr int64_t kMaxAnalysedLine = 1024;

// The positions that each element of a line may take, for element k those in [first[k], last[k]].
struct PositionRanges {
  std::vector<int64_t> first, last;
  explicit PositionRanges(int64_t length) : first(length, 0), last(length, length - 1) {}
  // Notes that element a certainly comes before element b.
  void Before(int64_t a, int64_t b) {
    ++first[b];
    --last[a];
  }
};

// For every position the elements that may take it, the plain one first. `plain` lists elements by
// position.
std::vector<std::vector<int64_t>> CandidatesByPosition(const PositionRanges& ranges,
                                                       absl::Span<const int64_t> plain);

// Describes element `to` of `result` as any one of the elements `from` of `source`; its plain value
// is that of the first of them.
void BoundAsOneOf(const Array& source, absl::Span<const int64_t> from, Array& result, int64_t to);

}  // namespace assay::reference
