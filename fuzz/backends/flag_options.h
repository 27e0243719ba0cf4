// Options of a backend among which XLA's own flags stand.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

bool IsXlaFlag(std::string_view name);

// "a=1,xla_b=x,y,c" -> (a, 1), (xla_b, "x,y"), (c, "true"): the values of XLA's own flags may hold
// commas, so a word that has no '=' and is no flag itself belongs to the flag before it.
std::vector<std::pair<std::string, std::string>> SplitFlagOptions(const std::string& text);

}  // namespace assay
