// Escapes of strings in HLO text, and of what a terminal is shown.
#include "spec/base/escape.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_format.h"

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

namespace {

// A character of UTF-8 at the beginning of a text: its bytes, 0 where there is none.
struct Utf8Character {
  uint32_t code = 0;
  size_t bytes = 0;
};

Utf8Character FirstUtf8Character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return {};
  uint32_t code = first & (0x7Fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xD800 && code < 0xE000;
  return code < kLeast[bytes] || code > 0x10FFFF || is_surrogate ? Utf8Character()
                                                                 : Utf8Character{code, bytes};
}

bool CommandsATerminal(uint32_t code) {
  const bool is_control =
      (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7F && code < 0xA0);
  const bool turns_direction = code == 0x200E || code == 0x200F ||
                               (code >= 0x202A && code <= 0x202E) ||
                               (code >= 0x2066 && code <= 0x2069);
  return is_control || turns_direction;
}

}  // namespace

std::string Printable(std::string_view text) {
  const bool is_plain = std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 0x20 && c < 0x7F) || c == '\n' || c == '\t';
  });
  if (is_plain) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const Utf8Character next = FirstUtf8Character(text);
    const size_t bytes = std::max<size_t>(next.bytes, 1);
    if (next.bytes == 0) {
      out += absl::StrFormat("\\x%02x", static_cast<uint8_t>(text[0]));
    } else if (text.substr(0, 2) == "\r\n") {
      // The end of a line as other systems write it.
    } else if (CommandsATerminal(next.code)) {
      out += absl::StrFormat("\\u%04x", next.code);
    } else {
      out.append(text.substr(0, bytes));
    }
    text.remove_prefix(bytes);
  }
  return out;
}

}  // namespace assay
