// Edit distance over a row of its table, and the spelling in which words are compared.
#include "spec/base/nearest_word.h"

#include <algorithm>
#include <cctype>

#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr size_t kLongestWord = 64;  // a longer one is like no word of a program

// DynamicSlice, dynamic_slice, Dynamic-Slice: dynamic-slice.
std::string Plain(std::string_view word) {
  std::string plain;
  for (const char c : word) {
    const bool is_upper = std::isupper(static_cast<unsigned char>(c)) != 0;
    if (is_upper && !plain.empty() && plain.back() != '-') plain += '-';
    plain += c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return plain;
}

}  // namespace

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string DidYouMean(std::string_view word, const std::vector<std::string>& words) {
  if (word.empty() || word.size() > kLongestWord) return "";
  const std::string wanted = Plain(word);
  const std::string* nearest = nullptr;
  size_t least = wanted.size() / 3 + 2;  // more than that is another word
  for (const std::string& candidate : words) {
    const size_t distance = EditDistance(wanted, Plain(candidate));
    if (distance >= least || distance >= candidate.size()) continue;
    least = distance;
    nearest = &candidate;
  }
  return nearest == nullptr ? "" : StrCat("; did you mean '", *nearest, "'?");
}

}  // namespace assay
