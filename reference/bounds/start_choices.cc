// Lists the starts that a slice may have where its indices are not certain.
#include "reference/bounds/start_choices.h"

#include <algorithm>
#include <limits>

namespace assay::reference {

int64_t IndexValue(ElementType type, uint64_t code) {
  if (IsUnsigned(type)) {
    return static_cast<int64_t>(
        std::min(code, static_cast<uint64_t>(std::numeric_limits<int64_t>::max())));
  }
  const int unused = 64 - BitWidth(type);
  return static_cast<int64_t>(code << unused) >> unused;
}

bool AddStarts(const Array& indices, int64_t element, const StartRange& range,
               std::vector<DimVector>& all) {
  const auto it = indices.facts().choices.find(element);
  if (it == indices.facts().choices.end()) return true;
  const auto [d, low, high] = range;
  std::vector<int64_t> candidates;
  for (uint64_t code : it->second)
    candidates.push_back(std::clamp(IndexValue(indices.literal.element_type(), code), low, high));
  if (it->second.empty()) {
    if (high - low >= static_cast<int64_t>(kMaxStarts)) return false;
    for (int64_t start = low; start <= high; ++start) candidates.push_back(start);
  }
  std::sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  const size_t before = all.size();
  for (size_t i = 0; i < before; ++i) {
    for (int64_t candidate : candidates) {
      if (candidate == all[0][d]) continue;
      DimVector start = all[i];
      start[d] = candidate;
      all.push_back(std::move(start));
      if (all.size() > kMaxStarts) return false;
    }
  }
  return true;
}

}  // namespace assay::reference
