// Applies a computation of scalars at once where it can be, element by element elsewhere.
#include "reference/interpreter/element_computation.h"

#include "reference/bounds/copy_elements.h"
#include "reference/values/leaves.h"
#include "spec/base/status_macros.h"

namespace assay::reference {
namespace {

// Element i of every argument as a scalar.
std::vector<Value> ScalarsAt(absl::Span<const Value> arguments, int64_t i, MemoryMeter& memory) {
  std::vector<Value> scalars;
  for (const Value& argument : arguments) {
    Array scalar{Literal(Shape::Scalar(argument.array->literal.element_type()))};
    CopyElements(*argument.array, i, scalar, 0, 1);
    scalars.push_back(MakeValue(std::move(scalar), memory));
  }
  return scalars;
}

}  // namespace

absl::StatusOr<std::vector<Value>> ApplyToElements(Interpreter& interpreter,
                                                   const Computation& computation,
                                                   absl::Span<const Value> arguments,
                                                   absl::Span<const int64_t> dimensions) {
  ASSAY_ASSIGN_OR_RETURN(const bool can_lift, interpreter.CanLift(computation));
  if (can_lift) {
    ASSAY_ASSIGN_OR_RETURN(Value value, interpreter.RunLifted(computation, arguments, dimensions));
    return LeavesOf(std::move(value));
  }
  MemoryMeter& memory = interpreter.memory();
  std::vector<Array> results;
  for (const Shape& leaf : LeavesOf(computation.root()->shape()))
    results.push_back(Array{Literal(Shape::Array(leaf.element_type(), dimensions))});
  const int64_t count = results[0].literal.element_count();
  for (int64_t i = 0; i < count; ++i) {
    ASSAY_ASSIGN_OR_RETURN(Value value,
                           interpreter.Run(computation, ScalarsAt(arguments, i, memory)));
    const std::vector<Value> leaves = LeavesOf(std::move(value));
    for (size_t n = 0; n < results.size(); ++n) CopyElements(*leaves[n].array, 0, results[n], i, 1);
  }
  std::vector<Value> values;
  for (Array& result : results) values.push_back(MakeValue(std::move(result), memory));
  return values;
}

}  // namespace assay::reference
