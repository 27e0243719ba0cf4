// Ops that run other computations. Document: operation semantics chapter 14.
#include "reference/bounds/elements.h"
#include "reference/interpreter.h"
#include "spec/base/strings.h"

namespace assay::reference {
namespace {

std::vector<Value> Arguments(const OpContext& op) {
  std::vector<Value> arguments;
  for (const Value* operand : op.operands) arguments.push_back(*operand);
  return arguments;
}

// The body with the operands for its parameters.
absl::StatusOr<Value> ApplyBody(Interpreter& interpreter, const OpContext& op) {
  return interpreter.Run(*op.instruction.callee(), Arguments(op));
}

// state := init; while condition(state): state := body(state).
absl::StatusOr<Value> ApplyWhile(Interpreter& interpreter, const OpContext& op) {
  const Computation &condition = *op.instruction.callee(0), &body = *op.instruction.callee(1);
  std::vector<Value> state = {*op.operands[0]};
  while (true) {
    if (absl::Status status = interpreter.budget().Take(1); !status.ok()) return status;
    absl::StatusOr<Value> proceed = interpreter.Run(condition, state);
    if (!proceed.ok()) return proceed.status();
    if (!proceed->array->Certain()) {
      return Inconclusive(
          StrCat("whether the loop ", op.instruction.name(), " goes on depends on rounding"));
    }
    if (!proceed->array->literal.data<bool>()[0]) return state[0];
    absl::StatusOr<Value> next = interpreter.Run(body, state);
    if (!next.ok()) return next.status();
    state[0] = *std::move(next);
  }
}

// The branch that the code of operand 0 selects: true is branch 0; an index out of range is the
// last one.
int64_t BranchOf(const OpContext& op, uint64_t code) {
  const auto branches = static_cast<int64_t>(op.instruction.callees().size());
  if (IsPred(op.literal(0).element_type())) return code != 0 ? 0 : 1;
  const auto index = static_cast<int64_t>(static_cast<int32_t>(code));
  return index < 0 || index >= branches ? branches - 1 : index;
}

absl::StatusOr<Value> RunBranch(Interpreter& interpreter, const OpContext& op, int64_t branch) {
  const Computation& computation = *op.instruction.callee(branch);
  if (computation.parameter_count() == 0) return interpreter.Run(computation, {});
  return interpreter.Run(computation, {*op.operands[branch + 1]});
}

// `value` or `other`, element by element.
Value Hull(const Value& value, const Value& other, MemoryMeter& memory) {
  if (value.IsTuple()) {
    std::vector<Value> elements;
    for (size_t i = 0; i < value.elements.size(); ++i)
      elements.push_back(Hull(value.elements[i], other.elements[i], memory));
    return Value::Tuple(std::move(elements));
  }
  Array merged = *value.array;
  HullArrays(*other.array, merged);
  return MakeValue(std::move(merged), memory);
}

absl::StatusOr<Value> ApplyConditional(Interpreter& interpreter, const OpContext& op) {
  const int64_t chosen = BranchOf(op, op.literal(0).GetBits(0));
  if (!op.array(0).Certain()) {
    for (const Computation* branch : op.instruction.callees()) {
      if (!interpreter.HasEffects(*branch)) continue;
      return Inconclusive(StrCat("which branch of ", op.instruction.name(),
                                 " with its effects is taken depends on rounding"));
    }
  }
  absl::StatusOr<Value> result = RunBranch(interpreter, op, chosen);
  if (!result.ok() || op.array(0).Certain()) return result;
  // An undecided index may select any branch.
  std::vector<bool> possible(op.instruction.callees().size(), CodesOf(op.array(0), 0).empty());
  for (uint64_t code : CodesOf(op.array(0), 0)) possible[BranchOf(op, code)] = true;
  for (size_t branch = 0; branch < possible.size(); ++branch) {
    if (!possible[branch] || static_cast<int64_t>(branch) == chosen) continue;
    absl::StatusOr<Value> other = RunBranch(interpreter, op, static_cast<int64_t>(branch));
    if (!other.ok()) return other.status();
    result = Hull(*result, *other, interpreter.memory());
  }
  return result;
}

}  // namespace

absl::Span<const OpEvaluation> ControlFlowEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {Opcode::kCall, nullptr, nullptr, ApplyBody},
      {Opcode::kFusion, nullptr, nullptr, ApplyBody},
      {Opcode::kWhile, nullptr, nullptr, ApplyWhile},
      {Opcode::kConditional, nullptr, nullptr, ApplyConditional},
  };
  return kRows;
}

}  // namespace assay::reference
