// Text inside HTML: the bug pages and the report put what comes from data through it.
#pragma once

#include <string>
#include <string_view>

namespace assay {

// `text` with the escapes that element content and attribute values need.
inline std::string EscapeHtml(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace assay
