// The Oracle interface on top of the interpreter.
#include "reference/interpreter.h"
#include "spec/backend/error.h"
#include "spec/base/strings.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

using reference::Array;
using reference::Budget;
using reference::Interpreter;
using reference::Value;

absl::Status CheckArguments(const Module& module, const std::vector<const Literal*>& arguments) {
  const Computation& entry = *module.entry();
  if (static_cast<int64_t>(arguments.size()) != entry.parameter_count()) {
    return MakeError(ErrorClass::kRejected,
                     StrCat("the module takes ", entry.parameter_count(), " arguments, ",
                            arguments.size(), " were given"));
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Shape& wanted = entry.parameter(static_cast<int64_t>(i))->shape();
    if (Compatible(wanted, arguments[i]->shape())) continue;
    return MakeError(ErrorClass::kRejected,
                     StrCat("argument ", i, " has shape ", arguments[i]->shape().ToString(),
                            ", the module takes ", wanted.ToString()));
  }
  return absl::OkStatus();
}

absl::StatusOr<Value> Run(const Module& module, const std::vector<const Literal*>& arguments,
                          Budget& budget, Interpreter& interpreter) {
  if (absl::Status status = CheckArguments(module, arguments); !status.ok()) return status;
  std::vector<Value> values;
  for (const Literal* argument : arguments) {
    if (absl::Status status = budget.memory().Check(argument->shape().ByteSize()); !status.ok())
      return status;
    values.push_back(reference::MakeValue(*argument, budget.memory()));
  }
  return interpreter.Run(*module.entry(), values);
}

// What callers outside see of an array: no views, the centre of forced elements filled in.
ArrayExpectation Export(const Array& array) {
  ArrayExpectation leaf;
  leaf.plain = array.literal;
  leaf.choices = array.choices;
  bool all_forced = true;
  for (const ElementBound& bound : array.bounds)
    all_forced = all_forced && (bound.flags & kForced) != 0;
  if (all_forced) return leaf;
  leaf.bounds = array.bounds;
  for (size_t i = 0; i < leaf.bounds.size(); ++i) {
    if ((leaf.bounds[i].flags & kForced) != 0)
      leaf.bounds[i] = {leaf.plain.GetComponent(static_cast<int64_t>(i)), 0, 0, kForced};
  }
  return leaf;
}

void ExportLeaves(const Value& value, std::vector<ArrayExpectation>& leaves) {
  if (!value.IsTuple()) {
    leaves.push_back(Export(*value.array));
    return;
  }
  for (const Value& element : value.elements) ExportLeaves(element, leaves);
}

// The oracle's own answer must be one of those that it allows.
absl::Status CheckOwnAnswer(const Expectation& expectation) {
  std::vector<const Literal*> plain;
  for (const ArrayExpectation& leaf : expectation.leaves) plain.push_back(&leaf.plain);
  const Judgement judgement = JudgeLeaves(expectation, plain);
  if (judgement.verdict != Verdict::kFail) return absl::OkStatus();
  const ElementFailure& at = judgement.worst;
  return absl::InternalError(
      StrCat("the oracle's own value lies outside its bound, a defect of the oracle: output ",
             at.leaf, ", element ", at.element, ", allowed ",
             DescribeAllowed(expectation.leaves[at.leaf], at.element), ", value ",
             DescribeElement(expectation.leaves[at.leaf].plain, at.element)));
}

class InterpreterOracle : public Oracle {
 public:
  absl::StatusOr<Literal> Evaluate(const Module& module,
                                   const std::vector<const Literal*>& arguments,
                                   const Limits& limits) override {
    Budget budget(limits);
    Interpreter interpreter(budget, nullptr);
    absl::StatusOr<Value> value = Run(module, arguments, budget, interpreter);
    if (!value.ok()) return value.status();
    return reference::ToLiteral(*value);
  }

  absl::StatusOr<Expectation> Expect(const Module& module,
                                     const std::vector<const Literal*>& arguments,
                                     const Profile& profile, const Limits& limits) override {
    Budget budget(limits);
    Interpreter interpreter(budget, &profile);
    absl::StatusOr<Value> value = Run(module, arguments, budget, interpreter);
    Expectation expectation;
    if (reference::IsInconclusive(value.status())) {
      expectation.inconclusive = std::string(ToStd(value.status().message()));
      return WithPlainLeaves(module, arguments, limits, std::move(expectation));
    }
    if (!value.ok()) return value.status();
    ExportLeaves(*value, expectation.leaves);
    if (absl::Status status = CheckOwnAnswer(expectation); !status.ok()) return status;
    return expectation;
  }

 private:
  // An inconclusive expectation still says what the outputs are like.
  absl::StatusOr<Expectation> WithPlainLeaves(const Module& module,
                                              const std::vector<const Literal*>& arguments,
                                              const Limits& limits, Expectation expectation) {
    absl::StatusOr<Literal> plain = Evaluate(module, arguments, limits);
    if (!plain.ok()) return plain.status();
    for (const Literal* leaf : Leaves(*plain)) {
      expectation.leaves.emplace_back();
      expectation.leaves.back().plain = *leaf;
    }
    return expectation;
  }
};

}  // namespace

std::unique_ptr<Oracle> MakeOracle() { return std::make_unique<InterpreterOracle>(); }

}  // namespace assay
