// Adds ops to a computation, for passes that write much of it.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "spec/attributes/attribute_words.h"
#include "spec/ir/module.h"

namespace assay {

class OpWriter {
 public:
  explicit OpWriter(Computation* into) : into_(into) {}

  Computation* into() const { return into_; }
  Instruction* Unary(Opcode opcode, Instruction* value) const;
  Instruction* Binary(Opcode opcode, Instruction* x, Instruction* y) const;
  Instruction* Compare(Direction direction, Instruction* x, Instruction* y) const;
  Instruction* Select(Instruction* which, Instruction* x, Instruction* y) const;
  // `value` itself if it has the type.
  Instruction* InType(Instruction* value, ElementType type) const;
  // An array whose elements all are `value`, rounded to the type (the real part of a complex one).
  Instruction* Splat(const Shape& shape, double value) const;
  // Dimension i of `value` becomes dimension dims[i].
  Instruction* Spread(Instruction* value, const Shape& over, absl::Span<const int64_t> dims) const;
  Instruction* Reshape(Instruction* value, absl::Span<const int64_t> sizes) const;
  Instruction* Transpose(Instruction* value, absl::Span<const int64_t> order) const;
  Instruction* Element(Instruction* tuple, int64_t k) const;
  Instruction* Tuple(absl::Span<Instruction* const> elements) const;
  // Grows (or cuts, by negative numbers) dimension d by low[d] and high[d], with zeros.
  Instruction* PadWithZeros(Instruction* value, absl::Span<const int64_t> low,
                            absl::Span<const int64_t> high) const;
  // The first sizes[d] elements along each dimension.
  Instruction* FirstPart(Instruction* value, absl::Span<const int64_t> sizes) const;
  // The sum over all dimensions but `kept`, of f32.
  Instruction* SumToFeature(Instruction* value, int64_t kept) const;

 private:
  Computation* into_;
};

// The array in another element type.
Shape WithType(const Shape& shape, ElementType type);

}  // namespace assay
