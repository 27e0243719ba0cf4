// The types in which a sum of products takes an operand and adds up. Document: operation semantics
// chapter 11, "Accumulation and result type".
#pragma once

#include "spec/types/element_type.h"

namespace assay {

// The type of the sums, which are converted to the result's type, as by the op convert, where that
// is another one: floats that give integers are added up as floats.
inline ElementType SumType(ElementType lhs, ElementType rhs, ElementType result) {
  const bool any_float = IsFloat(lhs) || IsFloat(rhs);
  return any_float && !IsFloat(result) && !IsComplex(result) ? HigherPrecision(lhs, rhs) : result;
}

// Operands of one class are multiplied as they are. Where classes differ (an integer with a float,
// a predicate with either), the operand of the lower class is converted first, as by the op
// convert, to the highest type that takes part.
inline ElementType FactorType(ElementType operand, ElementType other, ElementType result) {
  const bool is_same_class = operand == other || (IsFloat(operand) && IsFloat(other)) ||
                             (IsInteger(operand) && IsInteger(other)) ||
                             (IsComplex(operand) && IsComplex(other));
  const bool is_higher = IsComplex(operand) || (IsFloat(operand) && !IsComplex(other)) ||
                         (IsInteger(operand) && IsPred(other));
  if (is_same_class || is_higher) return operand;
  return HigherPrecision(HigherPrecision(operand, other), SumType(operand, other, result));
}

}  // namespace assay
