// Unique names by numeric suffixes.
#include "spec/ir/name_uniquer.h"

#include <algorithm>
#include <functional>

#include "spec/base/strings.h"

namespace assay {
namespace {

// The hash must be the same in every run, so that a module's names are.
uint64_t HashOf(std::string_view name) { return std::hash<std::string_view>()(name); }

std::string_view WithoutSuffix(std::string_view name, char separator) {
  const size_t at = name.rfind(separator);
  if (at == std::string_view::npos || at == 0 || at + 1 >= name.size()) return name;
  const std::string_view suffix = name.substr(at + 1);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return std::all_of(suffix.begin(), suffix.end(), is_digit) ? name.substr(0, at) : name;
}

}  // namespace

void NameUniquer::Release(std::string_view name) { names_.erase(HashOf(name)); }

std::string NameUniquer::GetUniqueName(std::string_view prefix) {
  if (names_.insert(HashOf(prefix)).second) return std::string(prefix);
  const std::string_view stem = WithoutSuffix(prefix, separator_);
  int64_t& suffix = next_suffix_[HashOf(stem)];
  for (;;) {
    std::string candidate = StrCat(stem, std::string_view(&separator_, 1), ++suffix);
    if (names_.insert(HashOf(candidate)).second) return candidate;
  }
}

}  // namespace assay
