// Evaluations of ops on complex numbers; chosen instead of the op's own row where an operand or the
// result is complex. Ops that only move elements need none.
#pragma once

#include <complex>

#include "reference/values/op_evaluations.h"
#include "spec/types/native.h"

namespace assay::reference {

// Calls f(TypeTag<std::complex<...>>) for a complex type.
template <typename F>
bool DispatchComplex(ElementType type, F f) {
  if (type == ElementType::kC64) {
    f(TypeTag<std::complex<float>>{});
  } else if (type == ElementType::kC128) {
    f(TypeTag<std::complex<double>>{});
  } else {
    return false;
  }
  return true;
}

// The row for complex operands; nullptr if the op has none.
const OpEvaluation* FindComplexEvaluation(Opcode opcode);

// real, imag and complex, whatever they are applied to.
absl::Span<const OpEvaluation> ComplexPartEvaluations();
absl::Span<const OpEvaluation> ComplexArithmeticEvaluations();
absl::Span<const OpEvaluation> ComplexFunctionEvaluations();

}  // namespace assay::reference
