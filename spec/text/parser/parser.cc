// The errors of the parser, and the small values that all its parts read.
#include "spec/text/parser/parser.h"

#include <functional>

#include "spec/base/strings.h"

namespace assay::text_internal {
Parser::Parser(std::string_view text, const ReadOptions& options)
    : lexer_(text), options_(options), shape_budget_(static_cast<int64_t>(text.size()) + 4096) {}

bool Parser::Fail(size_t position, std::string message, std::string expected) {
  if (Full()) return false;
  diagnostics_.push_back(DiagnosticAt(lexer_.text(), position, options_.file_name,
                                      std::move(message), std::move(expected)));
  return false;
}

bool Parser::FailHere(std::string message, std::string expected) {
  return Fail(lexer_.Skip(), std::move(message), std::move(expected));
}

std::string Parser::WhatStandsHere() {
  if (lexer_.AtEnd()) return "the end of the text";
  std::string_view rest = lexer_.text().substr(lexer_.position());
  if (rest.starts_with("/*")) return "a comment that does not end";
  if (rest[0] == '\0') return "a NUL byte";
  std::string_view word = lexer_.PeekWord();
  if (word.empty()) word = rest.substr(0, 1);
  if (static_cast<uint8_t>(word[0]) < 0x20 || static_cast<uint8_t>(word[0]) >= 0x7F) {
    return StrCat("byte ", static_cast<int>(static_cast<uint8_t>(word[0])));
  }
  return StrCat("'", word.substr(0, 40), "'");
}

bool Parser::Unexpected(std::string expected) {
  return FailHere(StrCat("found ", WhatStandsHere()), std::move(expected));
}

bool Parser::TooDeep() {
  return FailHere(StrCat("nested deeper than the limit of ", options_.max_nesting));
}

bool Parser::Expect(char symbol, std::string_view after) {
  if (lexer_.Accept(symbol)) return true;
  return Unexpected(StrCat("'", std::string(1, symbol), "' after ", after));
}

bool Parser::ExpectEnd() {
  if (lexer_.AtEnd()) return true;
  return Unexpected("the end of the text");
}

bool Parser::ParseBool(bool* value) {
  if (lexer_.AcceptWord("true")) {
    *value = true;
    return true;
  }
  *value = false;
  if (lexer_.AcceptWord("false")) return true;
  return Unexpected("true or false");
}

bool Parser::ParseInteger(int64_t* value) {
  std::optional<int64_t> integer = lexer_.Integer();
  if (!integer.has_value()) {
    return IsDigit(lexer_.Peek()) ? FailHere("number does not fit 64 bits")
                                  : Unexpected("an integer");
  }
  *value = *integer;
  return true;
}

bool Parser::ParseIntegerList(Int64List* list) {
  if (!Expect('{', "the attribute's name: a list of integers")) return false;
  while (!lexer_.Accept('}')) {
    if (!list->empty() && !lexer_.Accept(','))
      return Unexpected("',' or '}' in a list of integers");
    if (!list->empty() && lexer_.Accept('}')) break;  // a trailing comma is tolerated
    int64_t value = 0;
    if (!ParseInteger(&value)) return false;
    list->push_back(value);
  }
  return true;
}

}  // namespace assay::text_internal

namespace assay {

using text_internal::Parser;

absl::StatusOr<std::unique_ptr<Module>> ReadModule(std::string_view text,
                                                   const ReadOptions& options,
                                                   std::vector<Diagnostic>* diagnostics) {
  Parser parser(text, options);
  std::unique_ptr<Module> module = parser.ParseModule();
  if (diagnostics != nullptr) *diagnostics = parser.diagnostics();
  if (!parser.diagnostics().empty()) return ToStatus(parser.diagnostics());
  return module;
}

// Reads a text that is one value and nothing else: `parse` is the parser's function for it.
template <typename Value, typename Parse>
static absl::StatusOr<Value> ReadWhole(std::string_view text, const Parse& parse) {
  ReadOptions options;
  Parser parser(text, options);
  Value value;
  if (!parse(parser, &value) || !parser.ExpectEnd()) return ToStatus(parser.diagnostics());
  return value;
}

absl::StatusOr<Shape> ReadShape(std::string_view text) {
  return ReadWhole<Shape>(text, std::mem_fn(&Parser::ParseShape));
}

absl::StatusOr<Literal> ReadLiteral(const Shape& shape, std::string_view text) {
  return ReadWhole<Literal>(
      text, [&](Parser& parser, Literal* literal) { return parser.ParseLiteral(shape, literal); });
}

absl::StatusOr<Sharding> ReadSharding(std::string_view text) {
  return ReadWhole<Sharding>(text, std::mem_fn(&Parser::ParseSharding));
}

absl::StatusOr<ReplicaGroups> ReadReplicaGroups(std::string_view text) {
  return ReadWhole<ReplicaGroups>(text, std::mem_fn(&Parser::ParseReplicaGroups));
}

}  // namespace assay
