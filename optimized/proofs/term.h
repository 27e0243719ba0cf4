// Terms of the statements about index rules: integers, conditions and arrays, as text such as
// "slice(pad(x, v, l, h, 0), a, b, 1)" or "a + (k - 1) * s < n".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace assay {

// A number, a symbol (no operands), or a function of operands; the infix functions are named by
// their signs: + - * = < <=.
struct Term {
  std::string name;  // "" of a number
  int64_t number = 0;
  std::vector<Term> operands;

  bool IsNumber() const { return name.empty(); }
};

// Precedence from weak to strong: comparisons, + and -, *, then calls and brackets. Errors: what is
// no term (invalid argument, with the place).
absl::StatusOr<Term> ParseTerm(std::string_view text);
// Terms between commas, of which there may be none.
absl::StatusOr<std::vector<Term>> ParseTerms(std::string_view text);

}  // namespace assay
