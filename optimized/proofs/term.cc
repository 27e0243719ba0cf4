// A parser of terms by recursive descent.
#include "optimized/proofs/term.h"

#include <cctype>
#include <utility>

#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

class TermParser {
 public:
  explicit TermParser(std::string_view text) : text_(text) {}

  absl::StatusOr<std::vector<Term>> List(char end) {
    std::vector<Term> terms;
    if (Peek() == end) return terms;
    do {
      ASSAY_ASSIGN_OR_RETURN(Term term, Comparison());
      terms.push_back(std::move(term));
    } while (Take(","));
    return terms;
  }
  absl::Status End() {
    if (Peek() != '\0') return Error("something behind the term");
    return absl::OkStatus();
  }

 private:
  static constexpr int kDeepest = 100;

  char Peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Take(std::string_view sign) {
    Peek();
    if (text_.substr(at_, sign.size()) != sign) return false;
    at_ += sign.size();
    return true;
  }
  absl::Status Error(std::string_view what) const {
    return absl::InvalidArgumentError(StrCat(what, " at ", at_, " of \"", text_, "\""));
  }
  static Term Call(std::string_view name, Term a, Term b) {
    Term term{std::string(name), 0, {}};
    term.operands.push_back(std::move(a));
    term.operands.push_back(std::move(b));
    return term;
  }

  absl::StatusOr<Term> Comparison() {
    ASSAY_ASSIGN_OR_RETURN(Term left, Sum());
    for (std::string_view sign : {"<=", "<", "="}) {
      if (!Take(sign)) continue;
      ASSAY_ASSIGN_OR_RETURN(Term right, Sum());
      return Call(sign, std::move(left), std::move(right));
    }
    return left;
  }
  absl::StatusOr<Term> Sum() {
    ASSAY_ASSIGN_OR_RETURN(Term sum, Product());
    for (;;) {
      const std::string_view sign = Take("+") ? "+" : Take("-") ? "-" : "";
      if (sign.empty()) return sum;
      ASSAY_ASSIGN_OR_RETURN(Term next, Product());
      sum = Call(sign, std::move(sum), std::move(next));
    }
  }
  absl::StatusOr<Term> Product() {
    ASSAY_ASSIGN_OR_RETURN(Term product, Primary());
    while (Take("*")) {
      ASSAY_ASSIGN_OR_RETURN(Term next, Primary());
      product = Call("*", std::move(product), std::move(next));
    }
    return product;
  }
  absl::StatusOr<Term> Primary() {
    if (++depth_ > kDeepest) return Error("too deep");
    absl::StatusOr<Term> term = Atom();
    --depth_;
    return term;
  }
  absl::StatusOr<Term> Atom() {
    if (Take("(")) {
      ASSAY_ASSIGN_OR_RETURN(Term inner, Comparison());
      if (!Take(")")) return Error("want )");
      return inner;
    }
    if (Take("-")) {
      ASSAY_ASSIGN_OR_RETURN(Term value, Primary());
      return Call("-", Term{"", 0, {}}, std::move(value));
    }
    if (std::isdigit(static_cast<unsigned char>(Peek())) != 0) return Number();
    Term term{Name(), 0, {}};
    if (term.name.empty()) return Error("want a term");
    if (!Take("(")) return term;
    ASSAY_ASSIGN_OR_RETURN(term.operands, List(')'));
    if (!Take(")")) return Error("want )");
    return term;
  }
  absl::StatusOr<Term> Number() {
    Term term;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) {
      if (term.number > 1'000'000'000) return Error("a large number");
      term.number = term.number * 10 + (text_[at_++] - '0');
    }
    return term;
  }
  // Letters, and dashes between them: a minus between names has blanks around it.
  std::string Name() {
    std::string name;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool is_dash = c == '-' && !name.empty() && at_ + 1 < text_.size() &&
                           std::isalpha(static_cast<unsigned char>(text_[at_ + 1])) != 0;
      if (std::isalpha(static_cast<unsigned char>(c)) == 0 && !is_dash) break;
      name.push_back(c);
      ++at_;
    }
    return name;
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<Term>> ParseTerms(std::string_view text) {
  TermParser parser(text);
  ASSAY_ASSIGN_OR_RETURN(std::vector<Term> terms, parser.List('\0'));
  ASSAY_RETURN_IF_ERROR(parser.End());
  return terms;
}

absl::StatusOr<Term> ParseTerm(std::string_view text) {
  ASSAY_ASSIGN_OR_RETURN(std::vector<Term> terms, ParseTerms(text));
  if (terms.size() != 1) return absl::InvalidArgumentError(StrCat("want one term: \"", text, "\""));
  return std::move(terms[0]);
}

}  // namespace assay
