// One application of an op, and the row that says how the op is evaluated: its plain value, and
// what a legal implementation may return instead. The rows stand in the families' files; those are
// listed in reference/interpreter/op_evaluations.h.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "reference/values/deadline.h"
#include "reference/values/licensed_forms.h"
#include "reference/values/value.h"
#include "spec/ir/module.h"
#include "spec/numerics/profile.h"

namespace assay::reference {

class Interpreter;
class LegalChoices;
class ErrorNumbers;

// The settings of a run beside the clauses that its profile grants.
struct Analysis {
  // True if ops keep only what XLA promises of them (NumericContract::xla), not what the documents
  // do.
  bool is_xla = false;
  // Not a permission. If set, take these legal choices instead of the plain value
  // (reference/bounds/choices/legal_choices.h).
  LegalChoices* choices = nullptr;
  // If set, errors are followed from op to op under its numbers (reference/bounds/error_forms.h).
  ErrorNumbers* errors = nullptr;
  // If set, ops with long loops stop short once it is over.
  Deadline* deadline = nullptr;
  // If set, only these elements of a dot or convolution are made: its result is a list of them.
  // Linear indices, rising.
  const std::vector<int64_t>* sample = nullptr;
};

// One application of an op.
struct OpContext {
  const Instruction& instruction;
  const Shape& shape;  // of the result; differs from the instruction's when a scalar computation is
                       // applied to many elements at once
  absl::Span<const Value* const> operands;
  ClauseSet clauses;  // granted at this op; none in plain evaluation
  const Analysis& analysis;
  const LicensedForms& licensed = kNoLicensedForms;
  // Set where a computation of scalars is applied to arrays of these dimensions at once.
  std::optional<absl::Span<const int64_t>> lanes = std::nullopt;

  // The op on other operands, with another shape of the result.
  OpContext On(const Shape& other_shape, absl::Span<const Value* const> other_operands) const {
    return {instruction, other_shape, other_operands, clauses, analysis, licensed, lanes};
  }
  const Array& array(int64_t i) const { return *operands[i]->array; }
  const Literal& literal(int64_t i) const { return operands[i]->array->literal; }
  ElementType type() const { return shape.element_type(); }
  int64_t count() const { return shape.ElementCount(); }
  // Asked inside long loops, with the element evaluations since the last call: whether the result
  // is not used any more.
  bool OutOfTime(int64_t work) const {
    return analysis.deadline != nullptr && analysis.deadline->IsOver(work);
  }
};

// The plain value. `result` is zero-filled and has the shape of the context.
using EvaluateFn = absl::Status (*)(const OpContext& op, Literal& result);
// Says what else the elements may be: fills bounds and choices of `result`, whose literal is the
// plain value already.
using BoundFn = absl::Status (*)(const OpContext& op, Array& result);
// Ops that call computations or handle tuples: plain value and bounds together.
using ApplyFn = absl::StatusOr<Value> (*)(Interpreter& interpreter, const OpContext& op);

struct OpEvaluation {
  Opcode opcode;
  EvaluateFn evaluate = nullptr;
  BoundFn bound = nullptr;
  ApplyFn apply = nullptr;  // instead of the other two
  // Work in element evaluations, for the step limit; nullptr: the number of result elements.
  int64_t (*cost)(const OpContext& op) = nullptr;
  // `evaluate` and `bound` take every element type. Otherwise narrow ones are widened around them
  // (reference/interpreter/widening.h); data movement always takes all.
  bool any_type = false;
};

// The row of an op; nullptr for an op that has no meaning here.
const OpEvaluation* FindEvaluation(Opcode opcode);
// The row that replaces it where an operand or the result is complex; nullptr if the op has none.
const OpEvaluation* FindComplexEvaluation(Opcode opcode);

// unsupported: `op` has no meaning for its element type.
absl::Status UnsupportedType(const OpContext& op, ElementType type);

}  // namespace assay::reference
