// Names of cases in the store: a family and the case in it, "add__add/f32/small". A name without
// parts is both.
#pragma once

#include <string_view>

namespace assay {

constexpr std::string_view kFamilyEnd = "__";

inline std::string_view FamilyOfCase(std::string_view name) {
  return name.substr(0, name.find(kFamilyEnd));
}
inline std::string_view RestOfCase(std::string_view name) {
  const size_t at = name.find(kFamilyEnd);
  return at == std::string_view::npos ? name : name.substr(at + kFamilyEnd.size());
}

}  // namespace assay
