// Statements as formulas of Z3.
#include "optimized/proofs/prove.h"

#include <z3++.h>

#include <algorithm>
#include <map>

#include "spec/base/clock.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

// Expressions of the solver.
struct SolverDomain {
  using Int = z3::expr;
  using Bool = z3::expr;
  explicit SolverDomain(z3::context& solver_context) : context(solver_context) {}
  Int Number(int64_t x) { return context.int_val(x); }
  Int Add(const Int& a, const Int& b) { return a + b; }
  Int Subtract(const Int& a, const Int& b) { return a - b; }
  Int Multiply(const Int& a, const Int& b) { return a * b; }
  // For positive divisors division of the solver rounds down.
  Int FloorDivide(const Int& a, const Int& b) { return a / b; }
  Int Modulo(const Int& a, const Int& b) { return z3::mod(a, b); }
  Bool Less(const Int& a, const Int& b) { return a < b; }
  Bool Equal(const Int& a, const Int& b) { return a == b; }
  Bool And(const Bool& a, const Bool& b) { return a && b; }
  Bool Or(const Bool& a, const Bool& b) { return a || b; }
  Bool Not(const Bool& condition) { return !condition; }
  Int Select(const Bool& condition, const Int& a, const Int& b) { return z3::ite(condition, a, b); }

  z3::context& context;
};

class Prover {
 public:
  Prover(const RuleStatement& statement, std::string_view forgotten)
      : statement_(statement),
        forgotten_(forgotten),
        domain_(context_),
        meaning_(domain_),
        solver_(context_) {
    const std::vector<z3::expr> sizes = BindAll(
        statement, meaning_, forgotten, [this](const std::string& name) { return NumberOf(name); },
        [this](const std::string& array, const z3::expr& i) { return FunctionOf(array)(i); });
    for (const z3::expr& size : sizes) solver_.add(size >= 0);
    for (const Term& term : statement.given) solver_.add(meaning_.Condition(term));
    for (const StatementClaim& claim : statement.claims)
      if (!claim.IsOfArrays() && claim.name != forgotten)
        solver_.add(meaning_.Condition(claim.holds));
    AddDifference();
  }

  void Avoid(const Assignment& values) {
    z3::expr is_other = context_.bool_val(false);
    for (const auto& [name, value] : values)
      is_other = is_other || numbers_.at(name) != context_.int_val(value);
    solver_.add(is_other);
  }

  Proof Run(double seconds) {
    const double start = Now();
    Proof proof;
    z3::params params(context_);
    params.set("timeout", static_cast<unsigned>(std::max(1.0, seconds * 1000)));
    solver_.set(params);
    // Small instances are easier to look at.
    for (int64_t most : {4, 16, 64}) {
      solver_.push();
      for (const auto& [name, number] : numbers_)
        solver_.add(number <= context_.int_val(most) && number >= context_.int_val(-most));
      const z3::check_result result = solver_.check();
      if (result == z3::sat) return Refuted(start);
      solver_.pop();
    }
    const z3::check_result result = solver_.check();
    if (result == z3::sat) return Refuted(start);
    proof.outcome = result == z3::unsat ? Proof::kProved : Proof::kOpen;
    if (result == z3::unknown) proof.reason = solver_.reason_unknown();
    proof.seconds = Now() - start;
    return proof;
  }

 private:
  z3::expr NumberOf(const std::string& name) {
    const auto found = numbers_.find(name);
    if (found != numbers_.end()) return found->second;
    return numbers_.emplace(name, context_.int_const(name.c_str())).first->second;
  }
  z3::func_decl FunctionOf(const std::string& array) {
    const z3::sort integers = context_.int_sort();
    return context_.function(StrCat("element of ", array).c_str(), integers, integers);
  }
  // The sizes differ, or some element does.
  void AddDifference() {
    const auto before = meaning_.Of(statement_.before), after = meaning_.Of(statement_.after);
    const z3::expr i = context_.int_const("place");
    solver_.add(before.size != after.size ||
                (i >= 0 && i < before.size && before.at(i) != after.at(i)));
  }
  Proof Refuted(double start) {
    Proof proof;
    proof.outcome = Proof::kRefuted;
    const z3::model model = solver_.get_model();
    for (const auto& [name, number] : numbers_)
      proof.witness[name] = model.eval(number, /*model_completion=*/true).get_numeral_int64();
    proof.seconds = Now() - start;
    return proof;
  }

  const RuleStatement& statement_;
  std::string_view forgotten_;
  z3::context context_;
  SolverDomain domain_;
  Meaning<SolverDomain> meaning_;
  z3::solver solver_;
  std::map<std::string, z3::expr> numbers_;
};

}  // namespace

Proof Prove(const RuleStatement& statement, std::string_view forgotten, double seconds,
            absl::Span<const Assignment> avoided) {
  try {
    Prover prover(statement, forgotten);
    for (const Assignment& values : avoided) prover.Avoid(values);
    return prover.Run(seconds);
  } catch (const z3::exception& error) {
    Proof proof;
    proof.reason = error.msg();
    return proof;
  }
}

}  // namespace assay
