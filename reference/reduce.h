// Parts of reduce: recognised combiners and which input elements belong to a result element.
#pragma once

#include <optional>

#include "reference/binary_ops.h"
#include "reference/index_map.h"
#include "spec/ir/computation.h"

namespace assay::reference {

// The op of a combiner that is one of add, multiply, maximum, minimum, and, or, xor applied to its
// two parameters, in either order, with or without converts around it. Document: operation
// semantics chapter 10.
std::optional<Opcode> RecognisedCombiner(const Computation& computation);

// Input element k of result element o is bases[o] + offsets[k]; k counts in row-major order.
struct ReduceGeometry {
  IndexMap bases, offsets;
  // Result element o begins with initial value o instead of the only one.
  bool own_init = false;
};
ReduceGeometry GeometryOf(const Shape& operand, absl::Span<const int64_t> reduced);

// The operands of the members of a group, arrays of `shape`, combined element by element: with the
// computation of `op` in any order that a reduce allows, starting from the first member.
absl::StatusOr<Value> CombineMembers(Interpreter& interpreter, const OpContext& op,
                                     const Shape& shape, absl::Span<const Value* const> members);

// Calls f(Op{}) with the meaning of a recognised combiner.
template <typename F>
void VisitCombiner(Opcode opcode, F f) {
  switch (opcode) {
    case Opcode::kAdd:
      return f(Add{});
    case Opcode::kMultiply:
      return f(Multiply{});
    case Opcode::kMaximum:
      return f(Maximum{});
    case Opcode::kMinimum:
      return f(Minimum{});
    case Opcode::kAnd:
      return f(And{});
    case Opcode::kOr:
      return f(Or{});
    default:
      return f(Xor{});
  }
}

// Bounds of a reduce with a recognised combiner; the literal of `result` is the plain value.
void BoundRecognisedReduce(const Freedoms& freedoms, Opcode combiner, const Array& operand,
                           const Array& init, const ReduceGeometry& geometry, Array& result);

}  // namespace assay::reference
