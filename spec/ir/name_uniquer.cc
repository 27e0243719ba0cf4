// Unique names by numeric suffixes.
#include "spec/ir/name_uniquer.h"

#include <algorithm>

namespace assay {

void NameUniquer::Release(std::string_view name) { names_.erase(name); }

std::string NameUniquer::GetUniqueName(std::string_view prefix) {
  auto [at, is_new] = names_.emplace(prefix);
  if (is_new) return *at;
  std::string stem(prefix);
  size_t dot = stem.rfind(separator_);
  if (dot != std::string::npos && dot > 0 && dot + 1 < stem.size() &&
      std::all_of(stem.begin() + static_cast<std::ptrdiff_t>(dot) + 1, stem.end(),
                  [](char c) { return c >= '0' && c <= '9'; })) {
    stem.resize(dot);
  }
  int64_t& suffix = next_suffix_[stem];
  for (;;) {
    std::string candidate = stem + separator_ + std::to_string(++suffix);
    if (names_.insert(candidate).second) return candidate;
  }
}

}  // namespace assay
