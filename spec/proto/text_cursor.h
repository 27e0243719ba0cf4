// Reads over the text of one attribute, with errors as statuses.
#pragma once

#include <charconv>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "spec/attributes/attributes.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/text/lexer.h"

namespace assay::proto {

class TextCursor {
 public:
  TextCursor(std::string_view what, std::string_view text) : what_(what), lexer_(text) {}

  absl::Status Error(std::string_view expected) {
    return absl::InvalidArgumentError(StrCat(what_, ": expected ", expected, " at byte ",
                                             lexer_.Skip(), " of '", lexer_.text().substr(0, 60),
                                             "'"));
  }
  char Peek() { return lexer_.Peek(); }
  bool Accept(char c) { return lexer_.Accept(c); }
  bool Accept(std::string_view symbol) { return lexer_.Accept(symbol); }
  bool AcceptWord(std::string_view word) { return lexer_.AcceptWord(word); }
  std::string_view PeekWord() { return lexer_.PeekWord(); }
  std::string_view Word() {
    lexer_.Skip();
    return lexer_.Word();
  }
  absl::Status Expect(char c) {
    return Accept(c) ? absl::OkStatus() : Error(std::string("'") + c + "'");
  }
  absl::Status Expect(std::string_view symbol) {
    return Accept(symbol) ? absl::OkStatus() : Error(symbol);
  }
  absl::Status ExpectEnd() { return lexer_.AtEnd() ? absl::OkStatus() : Error("the end"); }
  absl::StatusOr<int64_t> Integer() {
    lexer_.Skip();
    std::optional<int64_t> value = lexer_.Integer();
    if (!value.has_value()) return Error("an integer");
    return *value;
  }
  absl::StatusOr<double> Double() {
    lexer_.Skip();
    const std::string_view number = lexer_.Number();
    double value = 0;
    auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (number.empty() || error != std::errc() || end != number.data() + number.size()) {
      return Error("a number");
    }
    return value;
  }
  absl::StatusOr<std::string> String() {
    lexer_.Skip();
    std::string value;
    if (!lexer_.String(&value)) return Error("a quoted string");
    return value;
  }
  absl::StatusOr<std::string> Json() {
    lexer_.Skip();
    const std::string_view value = lexer_.JsonBlob();
    if (value.empty()) return Error("a dictionary");
    return std::string(value);
  }
  // {1,2} with the given brackets.
  absl::StatusOr<Int64List> Integers(char open, char close) {
    ASSAY_RETURN_IF_ERROR(Expect(open));
    Int64List list;
    while (!Accept(close)) {
      if (!list.empty()) ASSAY_RETURN_IF_ERROR(Expect(','));
      ASSAY_ASSIGN_OR_RETURN(list.emplace_back(), Integer());
    }
    return list;
  }
  // 1x4
  absl::StatusOr<Int64List> JoinedByX() {
    lexer_.Skip();
    std::string_view text = lexer_.Compact();
    Int64List list;
    for (;;) {
      const size_t end = text.find('x');
      const std::string_view piece = text.substr(0, end);
      int64_t value = 0;
      auto [last, error] = std::from_chars(piece.data(), piece.data() + piece.size(), value);
      if (piece.empty() || error != std::errc() || last != piece.data() + piece.size()) {
        return Error("integers joined by x");
      }
      list.push_back(value);
      if (end == std::string_view::npos) return list;
      text.remove_prefix(end + 1);
    }
  }
  // The text of a value in braces.
  absl::StatusOr<std::string_view> Balanced() {
    lexer_.Skip();
    const std::string_view value = lexer_.Balanced();
    if (value.empty()) return Error("a value in braces");
    return value;
  }
  // A value of any kind.
  absl::Status SkipValue() {
    if (Peek() == '"') return String().status();
    if (Peek() == '{') return Balanced().status();
    lexer_.Skip();
    return lexer_.Compact().empty() ? Error("a value") : absl::OkStatus();
  }

 private:
  std::string_view what_;
  Lexer lexer_;
};

}  // namespace assay::proto
