// Values and shapes that are one array or a tuple of arrays, taken apart into the list of their
// arrays and put together again.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "reference/values/value.h"

namespace assay::reference {

// The shapes of the elements of a tuple; of any other shape the shape itself.
inline absl::Span<const Shape> LeavesOf(const Shape& shape) {
  return shape.IsTuple() ? absl::MakeConstSpan(shape.elements()) : absl::MakeConstSpan(&shape, 1);
}
// The elements of a tuple; an array as the only one of its list.
inline absl::Span<const Value> LeavesOf(const Value& value) {
  return value.IsTuple() ? absl::MakeConstSpan(value.elements) : absl::MakeConstSpan(&value, 1);
}
inline std::vector<Value> LeavesOf(Value&& value) {
  return value.IsTuple() ? std::move(value.elements) : std::vector<Value>{std::move(value)};
}

// Every array of a value, tuples within tuples included, in order.
std::vector<const Array*> ArraysOf(const Value& value);

// An array of zeros for each leaf of `shape`.
std::vector<Array> ZerosOf(const Shape& shape);

// The value of a shape with these arrays as its leaves: a tuple of them, or the only one.
Value ValueOfLeaves(std::vector<Array> arrays, const Shape& shape, MemoryMeter& memory);

}  // namespace assay::reference
