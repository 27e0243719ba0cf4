// Finds the word that somebody who mistyped one may have meant.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Insertions, deletions and replacements of one letter that turn `a` into `b`.
size_t EditDistance(std::string_view a, std::string_view b);

// "; did you mean 'NEAREST'?", or "" when none of `words` is near. Case, '_' for '-' and words run
// together with capitals (DynamicSlice) are no difference.
std::string DidYouMean(std::string_view word, const std::vector<std::string>& words);

}  // namespace assay
