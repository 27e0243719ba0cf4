// An index rule with its terms read, its instances as numbers, and these as HLO.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "optimized/proofs/index_rules.h"
#include "optimized/proofs/meaning.h"
#include "spec/ir/module.h"

namespace assay {

struct StatementClaim {
  std::string name;      // "RULE/CLAIM"
  Term holds;            // a condition, or same(x, y)
  bool follows = false;  // IndexClaim::follows
  bool IsOfArrays() const { return holds.name == "same"; }
};

struct RuleStatement {
  const IndexRule* rule = nullptr;
  std::vector<std::string> numbers;
  std::vector<std::pair<std::string, Term>> arrays;  // and their sizes
  std::vector<Term> given;
  Term before, after;
  std::vector<StatementClaim> claims;

  std::string Name() const;  // "slice-of-slice", or "slice-of-slice (of no elements)"
};

// All of IndexRules. Errors: a term that cannot be read.
absl::StatusOr<std::vector<RuleStatement>> ReadStatements();

// Values of the numbers, by name.
using Assignment = std::map<std::string, int64_t>;

// Binds the numbers and arrays of a statement in a meaning: arrays whose claim same(x, y) holds are
// one, but for the one that is `forgotten`. `element` makes element i of the array by that name.
// Returns the sizes of the arrays.
template <typename D, typename Value, typename Element>
std::vector<typename D::Int> BindAll(const RuleStatement& statement, Meaning<D>& meaning,
                                     std::string_view forgotten, Value value, Element element) {
  using Int = typename D::Int;
  for (const std::string& number : statement.numbers) meaning.Bind(number, value(number));
  std::vector<Int> sizes;
  for (const auto& [name, size] : statement.arrays) {
    std::string source = name;
    for (const StatementClaim& claim : statement.claims) {
      const bool is_same =
          claim.IsOfArrays() && claim.name != forgotten && claim.holds.operands[1].name == name;
      if (is_same) source = claim.holds.operands[0].name;
    }
    sizes.push_back(meaning.Number(size));
    meaning.Bind(name, typename Meaning<D>::Array{sizes.back(), [element, source](const Int& i) {
                                                    return element(source, i);
                                                  }});
  }
  meaning.Bind("k", meaning.Of(statement.before).size);
  return sizes;
}

// True if the numbers are an instance of the rule: all that is given holds, and so do the claims,
// but for the one that is `forgotten`. Sizes of at most `most` elements alone count.
bool IsInstance(const RuleStatement& statement, const Assignment& values,
                std::string_view forgotten, int64_t most);
// The claims of arrays hold: then those are one array.
std::vector<int64_t> ElementsOf(const RuleStatement& statement, const Term& term,
                                const Assignment& values, std::string_view forgotten);

// The side of the rule before it is applied, as an HLO module of arrays of one dimension of s32,
// and the arguments for it: arrays of different numbers, starts and values of elements.
struct HloInstance {
  std::unique_ptr<Module> module;
  std::vector<Literal> arguments;
};
absl::StatusOr<HloInstance> BeforeAsHlo(const RuleStatement& statement, const Assignment& values,
                                        std::string_view forgotten);

}  // namespace assay
