// The forms of ops as data: an op on what made its operands, and what compilers make of it. Terms
// are ops on variables and numbers; equal letters are the same value, a number is an array that
// holds it everywhere.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "reference/licenses/constants.h"
#include "reference/values/licensed_forms.h"
#include "spec/ir/module.h"
#include "spec/numerics/profile.h"

namespace assay::reference {

class Producers;

// An op that gives back a value that it was made of, but for the sign of a zero or for what is no
// number: compilers take that value instead, without any licence.
struct UnchangedRule {
  enum Condition : uint8_t {
    kAlways,
    kSameShape,      // the value has the shape of the op
    kLossless,       // likewise, and the type in between holds all of its numbers
    kOneTerm,        // each result of the contraction is one product
    kNeverNegative,  // no element of the value has a minus
  };
  std::string_view before;  // the value is x
  Condition condition = kAlways;
};
absl::Span<const UnchangedRule> UnchangedRules();

// An op that may be made in another form, of which a clause grants the digits.
struct FormRule {
  ClauseId clause;
  std::string_view before, after;
  // nullptr: the row is an example of a form that find_forms.cc finds by code, since it counts
  // operands or weighs constants, or dependence.cc.
  void (*note)(LicensedForms& found) = nullptr;
};
absl::Span<const FormRule> FormRules();

// The text of a rule as a tree.
struct Term {
  enum Kind : uint8_t { kOp, kVariable, kNumber };
  Kind kind = kOp;
  Opcode opcode = Opcode::kAdd;
  char variable = 'x';
  double number = 0;
  std::vector<Term> operands;
};
Term ReadTerm(std::string_view text);

// The values of variables, by letter.
using Variables = std::array<const Instruction*, 26>;

// Matches values with terms.
struct TermMatcher {
  Constants& constants;
  // An op of the term may be any that may have made the value; nullptr: it is the value itself.
  const Producers* producers = nullptr;

  bool Match(const Term& term, const Instruction& value, Variables& variables) const;
};

// The operand that an op gives back unchanged by one of those rules, because a predicate is known,
// or because it moves all elements to their own places; null if there is none.
const Instruction* UnchangedOperand(const Instruction& value, Constants& constants);
// Notes the forms of an op by those rules. `operand` gives its operand of a number.
void NoteFormsByRules(const Instruction& value, const TermMatcher& matcher,
                      const Instruction& (*operand)(const Instruction& value, int64_t which),
                      LicensedForms& found);

}  // namespace assay::reference
