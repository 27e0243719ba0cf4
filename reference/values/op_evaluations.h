// How each op is evaluated, twice: its plain value and what a legal implementation may return
// instead. One row per op; the families' files hold the rows, op_evaluations.cc collects them.
#pragma once

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "reference/values/rewrites.h"
#include "reference/values/value.h"
#include "spec/ir/module.h"
#include "spec/numerics/profile.h"

namespace assay::reference {

class Interpreter;
class Liberties;
class ErrorNumbers;

// The freedoms of the profile in force; none in plain evaluation.
struct Freedoms {
  bool flush = false;             // ClauseId::kFlushSubnormals
  bool excess = false;            // ClauseId::kExcessPrecision
  bool contract = false;          // ClauseId::kContraction
  bool reassociate = false;       // ClauseId::kReassociation
  bool commute = false;           // unrecognised combiners may see their inputs in another order
  bool reciprocal = false;        // ClauseId::kReciprocalDivision
  bool reciprocal_root = false;   // ClauseId::kReciprocalRoot
  bool nested_quotients = false;  // ClauseId::kNestedQuotients
  bool constant_chains = false;   // ClauseId::kConstantChains
  bool exponentials = false;      // ClauseId::kExponentials
  bool literal_reducer = false;   // ClauseId::kLiteralReducer
  bool xla_budgets = false;       // ulp budgets of the profile xla instead of strict
  // Not a freedom but a use of them: an evaluation of reference/bounds/liberties.h.
  Liberties* liberties = nullptr;
  // Where errors are followed from op to op (reference/bounds/forms.h).
  ErrorNumbers* errors = nullptr;
};

// One application of an op.
struct OpContext {
  const Instruction& instruction;
  const Shape& shape;  // of the result; differs from the instruction's when a scalar computation is
                       // applied to many elements at once
  absl::Span<const Value* const> operands;
  const Freedoms& freedoms;
  Rewrites rewrites = {};

  const Array& array(int64_t i) const { return *operands[i]->array; }
  const Literal& literal(int64_t i) const { return operands[i]->array->literal; }
  ElementType type() const { return shape.element_type(); }
  int64_t count() const { return shape.ElementCount(); }
};

// The plain value. `result` is zero-filled and has the shape of the context.
using EvaluateFn = absl::Status (*)(const OpContext& op, Literal& result);
// What else the elements may be: fills bounds and choices of `result`, whose literal is the plain
// value already.
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
  // (narrow_types.h); data movement always takes all.
  bool any_type = false;
};

// nullptr for an op that has no meaning here.
const OpEvaluation* FindEvaluation(Opcode opcode);

// The families.
absl::Span<const OpEvaluation> ElementwiseUnaryEvaluations();
absl::Span<const OpEvaluation> ElementwiseBinaryEvaluations();
absl::Span<const OpEvaluation> ElementwiseTernaryEvaluations();
absl::Span<const OpEvaluation> ConvertEvaluations();
absl::Span<const OpEvaluation> DataMovementEvaluations();
absl::Span<const OpEvaluation> DynamicSliceEvaluations();
absl::Span<const OpEvaluation> ReduceEvaluations();
absl::Span<const OpEvaluation> DotEvaluations();
absl::Span<const OpEvaluation> ConvolutionEvaluations();
absl::Span<const OpEvaluation> LinearAlgebraEvaluations();
absl::Span<const OpEvaluation> FftEvaluations();
absl::Span<const OpEvaluation> CustomCallEvaluations();
absl::Span<const OpEvaluation> RngEvaluations();
absl::Span<const OpEvaluation> RngBitGeneratorEvaluations();
absl::Span<const OpEvaluation> ControlFlowEvaluations();
absl::Span<const OpEvaluation> StructureEvaluations();
absl::Span<const OpEvaluation> CollectiveEvaluations();
absl::Span<const OpEvaluation> TransferEvaluations();

// unsupported: `op` has no meaning for its element type.
absl::Status UnsupportedType(const OpContext& op, ElementType type);

}  // namespace assay::reference
