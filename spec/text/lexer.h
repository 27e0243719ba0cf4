// Typed reads over HLO text. There are no tokens: the grammar is contextual (a word may be a name,
// a type, dimension labels), so the reader asks for what may stand at the cursor. Every read skips
// blanks and comments first and leaves the cursor alone when it fails. Nothing is allocated.
// Document: hlo-format chapter 2.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::string_view text() const { return text_; }
  size_t position() const { return position_; }
  void Seek(size_t position) { position_ = position; }

  // Skips blanks and comments; the cursor then stands on what comes next.
  size_t Skip() {
    // Most often there is nothing to skip, or one blank.
    if (position_ < text_.size() && text_[position_] == ' ') ++position_;
    if (position_ < text_.size() && text_[position_] > ' ' && text_[position_] != '/') {
      return position_;
    }
    while (position_ < text_.size() && !SkipIsDone()) {
    }
    return position_;
  }
  // The next character after blanks and comments; NUL at the end.
  char Peek() {
    Skip();
    return position_ < text_.size() ? text_[position_] : '\0';
  }
  bool AtEnd() {
    Skip();
    return position_ >= text_.size();
  }

  bool Accept(char c) {
    if (Peek() != c || position_ >= text_.size()) return false;
    ++position_;
    return true;
  }
  bool Accept(std::string_view symbol);
  // `keyword` as a whole word.
  bool AcceptWord(std::string_view keyword);

  // [A-Za-z_][A-Za-z0-9_.-]*, ending before "->"; empty when no word stands here.
  std::string_view Word();
  std::string_view PeekWord();
  // A word with or without '%'.
  std::string_view Name();
  // -?[0-9]+ in the range of int64; non-negative numbers up to 2^64-1 wrap.
  std::optional<int64_t> Integer();
  // The longest run that can be a literal's number: digits, letters, '.', and signs where a number
  // has them, with a NaN payload if there is one. Empty when the next character starts no number.
  std::string_view Number();
  // Runs without blanks of the compact forms: "2x3", "0_1x-1_2", "b01f_01io->b01f".
  std::string_view Compact();
  // A quoted string; appends the unescaped content. False, cursor on the quote, if there is no
  // string, it does not end or an escape is wrong.
  bool String(std::string* content);
  // From an opening bracket to the matching one, both included. Brackets nest, strings and comments
  // are skipped. Empty when the brackets do not match.
  std::string_view Balanced();
  // From '{' to the matching '}', counting braces and skipping double-quoted strings only: the rule
  // of backend configurations.
  std::string_view JsonBlob();

 private:
  // One step of Skip; true when something other than blank or comment stands at the cursor.
  bool SkipIsDone();

  std::string_view text_;
  size_t position_ = 0;
};

constexpr bool IsWordStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsWordCharacter(char c) {
  return IsWordStart(c) || IsDigit(c) || c == '.' || c == '-';
}

// True when the whole of `text` reads as a backend configuration without quotes.
bool IsJsonBlob(std::string_view text);

}  // namespace assay
