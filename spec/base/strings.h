// Concatenation that takes std::string_view. Debian builds Abseil with its own string_view type, to
// which std::string_view does not convert; everything else of absl::StrCat is unchanged.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace assay {

inline absl::string_view ToAbsl(std::string_view text) {
  return absl::string_view(text.data(), text.size());
}
inline std::string_view ToStd(absl::string_view text) {
  return std::string_view(text.data(), text.size());
}

namespace strings_internal {
inline absl::string_view Convert(std::string_view text) { return ToAbsl(text); }
inline absl::string_view Convert(const std::string& text) { return text; }
inline absl::string_view Convert(const char* text) { return text; }
template <typename T>
const T& Convert(const T& value) {
  return value;
}
}  // namespace strings_internal

// StrCat("dimension ", 3, " of ", Name(opcode)).
template <typename... Parts>
std::string StrCat(const Parts&... parts) {
  return absl::StrCat(strings_internal::Convert(parts)...);
}
template <typename... Parts>
void StrAppend(std::string* out, const Parts&... parts) {
  absl::StrAppend(out, strings_internal::Convert(parts)...);
}

}  // namespace assay
