// The rows of all ops, by family: each family's file defines one list, and from the lists the row
// for an instruction is found.
#pragma once

#include "reference/values/op_context.h"

namespace assay::reference {

// The way in which an instruction is evaluated, whatever its operands hold.
struct Evaluation {
  const OpEvaluation* general = nullptr;  // the row of the op; nullptr: it has no meaning here
  // The row for the element types at hand. Special rows take the place of the op's own where
  // complex numbers take part, or where the result is an integer below a byte.
  const OpEvaluation* row = nullptr;
  // The narrow operands and results are converted around it (reference/interpreter/widening.h).
  bool is_widened = false;

  int64_t CostOf(const OpContext& op) const {
    return general->cost != nullptr ? general->cost(op) : op.count();
  }
};
Evaluation EvaluationOf(const Instruction& instruction);

// Element-wise ops.
absl::Span<const OpEvaluation> ElementwiseUnaryEvaluations();
absl::Span<const OpEvaluation> ElementwiseBinaryEvaluations();
absl::Span<const OpEvaluation> ElementwiseTernaryEvaluations();
absl::Span<const OpEvaluation> ConvertEvaluations();
// Real, imag and complex, whatever they are applied to.
absl::Span<const OpEvaluation> ComplexPartEvaluations();
// Movement and indexing.
absl::Span<const OpEvaluation> DataMovementEvaluations();
absl::Span<const OpEvaluation> DynamicSliceEvaluations();
absl::Span<const OpEvaluation> DynamicShapeEvaluations();
absl::Span<const OpEvaluation> GatherEvaluations();
absl::Span<const OpEvaluation> ScatterEvaluations();
// Reduction and sorting.
absl::Span<const OpEvaluation> ReduceEvaluations();
absl::Span<const OpEvaluation> WindowEvaluations();
absl::Span<const OpEvaluation> MapEvaluations();
absl::Span<const OpEvaluation> ScanEvaluations();
absl::Span<const OpEvaluation> BatchNormEvaluations();
absl::Span<const OpEvaluation> SortEvaluations();
absl::Span<const OpEvaluation> TopKEvaluations();
// Contraction and linear algebra.
absl::Span<const OpEvaluation> DotEvaluations();
absl::Span<const OpEvaluation> ConvolutionEvaluations();
absl::Span<const OpEvaluation> LinearAlgebraEvaluations();
absl::Span<const OpEvaluation> FftEvaluations();
absl::Span<const OpEvaluation> CustomCallEvaluations();
// Random numbers, control and communication.
absl::Span<const OpEvaluation> RngEvaluations();
absl::Span<const OpEvaluation> RngBitGeneratorEvaluations();
absl::Span<const OpEvaluation> ControlFlowEvaluations();
absl::Span<const OpEvaluation> StructureEvaluations();
absl::Span<const OpEvaluation> CollectiveEvaluations();
absl::Span<const OpEvaluation> TransferEvaluations();

// Rows for complex operands or results, in place of the op's own. Ops that only move elements need
// none.
absl::Span<const OpEvaluation> ComplexArithmeticEvaluations();
absl::Span<const OpEvaluation> ComplexFunctionEvaluations();
// Rows for integers below a byte, of ops whose result depends on the width.
absl::Span<const OpEvaluation> NarrowIntegerEvaluations();

}  // namespace assay::reference
