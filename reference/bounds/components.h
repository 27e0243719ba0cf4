// Complex arrays as arrays of their parts. Ops that act on the parts alone, and the parts of ops
// that are defined by real arithmetic, are evaluated and bounded by the rules for floats.
#pragma once

#include "reference/values/op_context.h"

namespace assay::reference {

enum class Part : int64_t { kReal = 0, kImaginary = 1 };

// The parts of a complex array side by side: a float array with one more dimension, of size 2.
// Bounds come along.
Array Components(const Array& complex);
Literal Components(const Literal& complex);
// One part of every element, as a float array of the same dimensions.
Array PartOf(const Array& complex, Part part);
// Writes one part of every element of `result`, and its bounds.
void SetPart(const Array& values, Part part, Array& result);
// Writes parts that lie side by side, as Components gives them.
void SetComponents(const Array& components, Array& result);

// Applies ops to float arrays that are parts of complex ones: gives plain values, and in bound mode
// bounds.
class PartArithmetic {
 public:
  // Takes instruction, clauses and analysis from `op`.
  PartArithmetic(const OpContext& op, bool bounding) : op_(op), bounding_(bounding) {}
  absl::StatusOr<Array> Apply(Opcode opcode, const Shape& shape,
                              absl::Span<const Array* const> operands) const;

 private:
  const OpContext& op_;
  bool bounding_;
};

// result = op on the parts one by one, by the row of `opcode` for floats.
absl::Status ApplyByParts(const OpContext& op, Opcode opcode, bool bounding, Array& result);

}  // namespace assay::reference
