// Words, numbers, strings and balanced pieces of HLO text.
#include "spec/text/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace assay {
namespace {

constexpr std::array<bool, 256> kWordTable = [] {
  std::array<bool, 256> table = {};
  for (int c = 0; c < 256; ++c) table[c] = c < 128 && IsWordCharacter(static_cast<char>(c));
  return table;
}();

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void AppendUtf8(std::string* out, uint32_t code) {
  auto put = [out](uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

// Reads up to `most` digits of `base`; false when there is none.
bool ReadDigits(std::string_view text, size_t& at, int base, int most, uint32_t& value) {
  value = 0;
  int count = 0;
  while (count < most && at < text.size()) {
    int digit = HexDigit(text[at]);
    if (digit < 0 || digit >= base) break;
    value = value * base + static_cast<uint32_t>(digit);
    ++at;
    ++count;
  }
  return count > 0;
}

// `at` is behind the backslash; moves it behind the escape.
bool Unescape(std::string_view text, size_t& at, std::string* out) {
  if (at >= text.size()) return false;
  char c = text[at];
  static constexpr std::string_view kNames = "abfnrtv\\'\"?";
  static constexpr std::string_view kValues = "\a\b\f\n\r\t\v\\'\"?";
  if (size_t i = kNames.find(c); i != std::string_view::npos) {
    out->push_back(kValues[i]);
    ++at;
    return true;
  }
  uint32_t value = 0;
  if (c >= '0' && c <= '7') {
    if (!ReadDigits(text, at, 8, 3, value) || value > 0xFF) return false;
    out->push_back(static_cast<char>(value));
    return true;
  }
  if (c == 'x' || c == 'X') {
    if (!ReadDigits(text, ++at, 16, 2, value)) return false;
    out->push_back(static_cast<char>(value));
    return true;
  }
  if (c == 'u' || c == 'U') {
    int width = c == 'u' ? 4 : 8;
    size_t start = ++at;
    if (!ReadDigits(text, at, 16, width, value) || at - start != static_cast<size_t>(width) ||
        value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) {
      return false;
    }
    AppendUtf8(out, value);
    return true;
  }
  return false;
}

// Position behind the quoted string that starts at `at`, or npos when it does not end.
size_t SkipString(std::string_view text, size_t at) {
  char quote = text[at++];
  for (; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == quote) {
      return at + 1;
    }
  }
  return std::string_view::npos;
}

// Length of the "{...}" at the start of `text`; 0 when there is none or it does not end.
size_t JsonBlobLength(std::string_view text) {
  if (text.empty() || text[0] != '{') return 0;
  int64_t depth = 0;
  for (size_t at = 0; at < text.size();) {
    char c = text[at];
    if (c == '"') {
      at = SkipString(text, at);
      if (at == std::string_view::npos) return 0;
      continue;
    }
    ++at;
    if (c == '{') ++depth;
    if (c == '}' && --depth == 0) return at;
  }
  return 0;
}

}  // namespace

bool Lexer::SkipIsDone() {
  char c = text_[position_];
  if (IsBlank(c)) {
    ++position_;
    return false;
  }
  if (c != '/' || position_ + 1 >= text_.size()) return true;
  if (text_[position_ + 1] == '/') {
    position_ = std::min(text_.find_first_of("\n\r", position_), text_.size());
    return false;
  }
  if (text_[position_ + 1] != '*') return true;
  size_t end = text_.find("*/", position_ + 2);
  if (end == std::string_view::npos) return true;  // the reader then says what stands here
  position_ = end + 2;
  return false;
}

bool Lexer::Accept(std::string_view symbol) {
  Skip();
  if (!text_.substr(position_).starts_with(symbol)) return false;
  position_ += symbol.size();
  return true;
}

bool Lexer::AcceptWord(std::string_view keyword) {
  if (PeekWord() != keyword) return false;
  position_ += keyword.size();
  return true;
}

std::string_view Lexer::PeekWord() {
  Skip();
  size_t end = position_;
  if (end >= text_.size() || !IsWordStart(text_[end])) return {};
  while (end < text_.size() && kWordTable[static_cast<uint8_t>(text_[end])]) ++end;
  if (end < text_.size() && text_[end] == '>' && text_[end - 1] == '-') --end;
  return text_.substr(position_, end - position_);
}

std::string_view Lexer::Word() {
  std::string_view word = PeekWord();
  position_ += word.size();
  return word;
}

std::string_view Lexer::Name() {
  Skip();
  size_t start = position_;
  if (position_ < text_.size() && text_[position_] == '%') {
    ++position_;
    // The name follows immediately.
    if (position_ >= text_.size() || !IsWordStart(text_[position_])) {
      position_ = start;
      return {};
    }
  }
  return Word();
}

std::optional<int64_t> Lexer::Integer() {
  Skip();
  const char* begin = text_.data() + position_;
  const char* end = text_.data() + text_.size();
  if (begin == end) return std::nullopt;
  // One to three digits are what nearly every number has.
  if (IsDigit(*begin)) {
    int64_t small = 0;
    const char* at = begin;
    while (at != end && at - begin < 4 && IsDigit(*at)) small = small * 10 + (*at++ - '0');
    if (at - begin < 4) {
      position_ += static_cast<size_t>(at - begin);
      return small;
    }
  }
  std::from_chars_result result;
  int64_t value = 0;
  if (*begin == '-') {
    result = std::from_chars(begin, end, value);
  } else {
    uint64_t magnitude = 0;
    result = std::from_chars(begin, end, magnitude);
    value = static_cast<int64_t>(magnitude);
  }
  if (result.ec != std::errc()) return std::nullopt;
  position_ = static_cast<size_t>(result.ptr - text_.data());
  return value;
}

std::string_view Lexer::Number() {
  Skip();
  size_t at = position_;
  if (at < text_.size() && text_[at] == '-') ++at;
  if (at >= text_.size() || !(IsDigit(text_[at]) || IsWordStart(text_[at]))) return {};
  while (at < text_.size()) {
    char c = text_[at];
    bool exponent_sign = (c == '+' || c == '-') && (text_[at - 1] == 'e' || text_[at - 1] == 'E');
    if (!IsDigit(c) && !IsWordStart(c) && c != '.' && !exponent_sign) break;
    ++at;
  }
  std::string_view number = text_.substr(position_, at - position_);
  if (number.ends_with("nan") && text_.substr(at).starts_with("(0x")) {
    size_t end = at + 3;
    while (end < text_.size() && HexDigit(text_[end]) >= 0) ++end;
    if (end < text_.size() && text_[end] == ')') at = end + 1;
  }
  number = text_.substr(position_, at - position_);
  position_ = at;
  return number;
}

std::string_view Lexer::Compact() {
  Skip();
  size_t at = position_;
  while (at < text_.size()) {
    char c = text_[at];
    if (c == '-' && at + 1 < text_.size() && text_[at + 1] == '>') {
      at += 2;
    } else if (IsDigit(c) || IsWordStart(c) || c == '?' || c == '-') {
      ++at;
    } else {
      break;
    }
  }
  std::string_view run = text_.substr(position_, at - position_);
  position_ = at;
  return run;
}

bool Lexer::String(std::string* content) {
  char quote = Peek();
  if (quote != '"' && quote != '\'') return false;
  size_t at = position_ + 1;
  while (at < text_.size()) {
    size_t stop = at;
    while (stop < text_.size() && text_[stop] != quote && text_[stop] != '\\') ++stop;
    content->append(text_, at, stop - at);
    if (stop >= text_.size()) return false;
    at = stop + 1;
    if (text_[stop] == quote) {
      position_ = at;
      return true;
    }
    if (!Unescape(text_, at, content)) return false;
  }
  return false;
}

std::string_view Lexer::Balanced() {
  char open = Peek();
  if (open != '{' && open != '(' && open != '[') return {};
  // A count of open brackets is enough to find the end, and needs no memory: whoever interprets the
  // text checks that the kinds of closing brackets agree.
  Lexer scan(text_);
  scan.Seek(position_);
  int64_t depth = 0;
  while (!scan.AtEnd()) {
    char c = scan.Peek();
    if (c == '"' || c == '\'') {
      size_t end = SkipString(text_, scan.position());
      if (end == std::string_view::npos) return {};
      scan.Seek(end);
      continue;
    }
    scan.Seek(scan.position() + 1);
    if (c == '{' || c == '(' || c == '[') ++depth;
    if ((c == '}' || c == ')' || c == ']') && --depth == 0) {
      std::string_view group = text_.substr(position_, scan.position() - position_);
      position_ = scan.position();
      return group;
    }
  }
  return {};
}

std::string_view Lexer::JsonBlob() {
  Skip();
  std::string_view blob = text_.substr(position_, JsonBlobLength(text_.substr(position_)));
  position_ += blob.size();
  return blob;
}

bool IsJsonBlob(std::string_view text) {
  return !text.empty() && JsonBlobLength(text) == text.size();
}

}  // namespace assay
