// Escapes of strings in HLO text.
#include "spec/base/escape.h"

#include <cstdint>

namespace assay {

void AppendEscaped(std::string& out, std::string_view text) {
  for (char c : text) {
    switch (c) {
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '"':
      case '\'':
      case '\\':
        out += '\\';
        out += c;
        break;
      default: {
        uint8_t byte = static_cast<uint8_t>(c);
        if (byte >= 0x20 && byte < 0x7F) {
          out += c;
        } else {
          out += '\\';
          out += static_cast<char>('0' + (byte >> 6));
          out += static_cast<char>('0' + (byte >> 3 & 7));
          out += static_cast<char>('0' + (byte & 7));
        }
      }
    }
  }
}

void AppendQuoted(std::string& out, std::string_view text) {
  out += '"';
  AppendEscaped(out, text);
  out += '"';
}

}  // namespace assay
