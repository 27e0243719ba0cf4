// Turns ranges of positions into candidates for each position.
#include "reference/ops/sorting/position_ranges.h"

#include <cstring>

#include "reference/bounds/elements.h"

namespace assay::reference {

std::vector<std::vector<int64_t>> CandidatesByPosition(const PositionRanges& ranges,
                                                       absl::Span<const int64_t> plain) {
  std::vector<std::vector<int64_t>> candidates(plain.size());
  for (size_t p = 0; p < plain.size(); ++p) candidates[p].push_back(plain[p]);
  for (size_t k = 0; k < plain.size(); ++k) {
    for (int64_t p = ranges.first[k]; p <= ranges.last[k]; ++p)
      if (plain[p] != static_cast<int64_t>(k)) candidates[p].push_back(static_cast<int64_t>(k));
  }
  return candidates;
}

namespace {

bool HaveSameBits(const Literal& literal, int64_t a, int64_t b) {
  const size_t width = StorageBytes(literal.element_type());
  return std::memcmp(literal.bytes().data() + a * width, literal.bytes().data() + b * width,
                     width) == 0;
}

}  // namespace

void BoundAsOneOf(const Array& source, absl::Span<const int64_t> from, Array& result, int64_t to) {
  if (!source.Certain() || !result.Certain()) MoveBound(source, from[0], result, to);
  for (size_t k = 1; k < from.size(); ++k) {
    // A certain element that is the same number adds nothing.
    const bool is_same = source.Certain() && HaveSameBits(source.literal, from[0], from[k]);
    if (!is_same) HullWith(source, from[k], result, to);
  }
}

}  // namespace assay::reference
