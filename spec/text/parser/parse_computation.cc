// Computations: signature, body, recovery after an error. Document: hlo-format chapter 3.1.
#include <algorithm>

#include "spec/base/strings.h"
#include "spec/text/parser/parser.h"

namespace assay::text_internal {
namespace {

// Finds where the body's own '}' stands behind the instruction that begins at `start`, on the same
// line; npos when it does not.
size_t ClosingBraceOnLine(std::string_view text, size_t start) {
  int64_t depth = 0;
  for (size_t at = start; at < text.size() && text[at] != '\n'; ++at) {
    if (text[at] == '"') {
      for (++at; at < text.size() && text[at] != '"' && text[at] != '\n';) {
        at += text[at] == '\\' ? 2 : 1;
      }
      if (at >= text.size() || text[at] == '\n') return std::string_view::npos;
    }
    if (text[at] == '{') ++depth;
    if (text[at] == '}' && --depth < 0) return at;
  }
  return std::string_view::npos;
}

}  // namespace

bool Parser::ParseComputation() {
  bool is_entry = false;
  size_t position = lexer_.Skip();
  if (lexer_.PeekWord() == "ENTRY") {
    lexer_.Word();
    is_entry = true;
    if (marked_entry_ != nullptr) return Fail(position, "a second ENTRY computation");
  }
  position = lexer_.Skip();
  std::string_view name = lexer_.Name();
  if (name.empty()) return Unexpected("a computation: its name and '{'");
  if (computations_.contains(name)) {
    return Fail(position, StrCat("a second computation is called ", name));
  }
  std::optional<Shape> result;
  size_t signature = lexer_.Skip();
  if (lexer_.Peek() == '(' && !ParseSignature(&result)) return false;
  BodyScope scope;
  scope.computation = module_->AddComputation(name);
  if (options_.places != nullptr) options_.places->computations[scope.computation] = position;
  if (is_entry) marked_entry_ = scope.computation;
  bool body_ok = ParseBody(&scope);
  computations_[name] = scope.computation;
  last_computation_ = scope.computation;
  if (!body_ok) return false;
  if (result.has_value() && scope.root != nullptr && !Compatible(*result, scope.root->shape())) {
    Fail(signature,
         StrCat("the signature of ", name, " gives ", result->ToString(), " but its root ",
                scope.root->name(), " has shape ", scope.root->shape().ToString()));
  }
  if (lexer_.Accept(',')) {
    if (!lexer_.AcceptWord("execution_thread")) return Unexpected("execution_thread=");
    std::string thread;
    if (!Expect('=', "execution_thread")) return false;
    if (!lexer_.String(&thread)) return Unexpected("a quoted thread name");
    scope.computation->set_execution_thread(std::move(thread));
  }
  return true;
}

bool Parser::ParseSignature(std::optional<Shape>* result) {
  lexer_.Accept('(');
  bool first = true;
  while (!lexer_.Accept(')')) {
    if (!first && !Expect(',', "a parameter of the signature")) return false;
    first = false;
    if (lexer_.Name().empty()) return Unexpected("the name of a parameter");
    if (!Expect(':', "the name of a parameter")) return false;
    Shape shape;
    if (!ParseShape(&shape)) return false;
  }
  if (!lexer_.Accept("->")) return Unexpected("'->' and the result's shape");
  return ParseShape(&result->emplace());
}

// From '{' to '}', both included. False only when reading cannot go on behind it.
bool Parser::ParseBody(BodyScope* scope) {
  size_t open = lexer_.Skip();
  if (!Expect('{', "a computation's name")) return false;
  while (!Full()) {
    size_t here = lexer_.Skip();
    if (lexer_.Accept('}')) return FinishBody(scope, here);
    if (lexer_.AtEnd()) {
      return Fail(open, StrCat("the body of ", scope->computation->name(), " is not closed"),
                  "'}'");
    }
    if (!ParseInstruction(scope)) SkipToNextInstruction(here);
  }
  return false;
}

bool Parser::FinishBody(BodyScope* scope, size_t end) {
  if (scope->root == nullptr && scope->names.empty()) {
    return Fail(end, StrCat("computation ", scope->computation->name(), " has no instruction"));
  }
  scope->computation->set_root(scope->root);
  scope->computation->IndexParameters();
  auto& parameters = scope->parameters;
  std::sort(parameters.begin(), parameters.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 1; i < parameters.size(); ++i) {
    if (parameters[i].first == parameters[i - 1].first) {
      Fail(end, StrCat("computation ", scope->computation->name(), " has two parameters numbered ",
                       parameters[i].first));
    }
  }
  return true;
}

bool Parser::ParseInlineComputation(Computation** computation) {
  Nesting nesting(this);
  if (nesting.TooDeep()) return TooDeep();
  BodyScope scope;
  scope.computation = module_->AddComputation("_");
  *computation = scope.computation;
  return ParseBody(&scope) && scope.root != nullptr;
}

// True when the line at `line_start` begins with what begins an instruction or ends a body.
bool Parser::StartsInstruction(size_t line_start) const {
  Lexer lexer(lexer_.text());
  lexer.Seek(line_start);
  if (lexer.Peek() == '}') return true;
  lexer.AcceptWord("ROOT");
  return !lexer.Name().empty() && lexer.Peek() == '=';
}

// Recovery: the error lies in the instruction that begins at `start`.
void Parser::SkipToNextInstruction(size_t start) {
  std::string_view text = lexer_.text();
  if (const size_t brace = ClosingBraceOnLine(text, start); brace != std::string_view::npos) {
    // One brace too many is followed by more of the body, or by its end.
    const size_t next = text.find_first_not_of(" \t\r\n", brace + 1);
    if (next == std::string_view::npos || !StartsInstruction(next)) {
      lexer_.Seek(brace);
      return;
    }
  }
  size_t at = std::max(lexer_.position(), start + 1);
  // The parser may have looked past the end of the line for what was missing.
  while (at > start + 1 &&
         std::string_view(" \t\r\n").find(text[at - 1]) != std::string_view::npos) {
    --at;
  }
  for (;;) {
    at = text.find('\n', at);
    if (at == std::string_view::npos) break;
    ++at;
    // Only this line's own beginning counts: blank lines are passed one by one.
    size_t first = text.find_first_not_of(" \t\r", at);
    if (first == std::string_view::npos) break;
    if (text[first] != '\n' && StartsInstruction(first)) {
      lexer_.Seek(first);
      return;
    }
  }
  lexer_.Seek(text.size());
}

}  // namespace assay::text_internal
