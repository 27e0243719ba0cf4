// Lists of elements combined by a computation: what reduce, reduce-window, scatter and
// select-and-scatter share. Document: operation semantics chapter 10, "Recognised combiners",
// "Order freedom", "Initial value".
#pragma once

#include <optional>

#include "reference/interpreter/interpreter.h"
#include "reference/scalar/binary_ops.h"
#include "reference/values/index_map.h"
#include "spec/ir/computation.h"

namespace assay::reference {

// The op of a combiner that is one of add, multiply, maximum, minimum, and, or, xor applied to its
// two parameters, in either order, with or without converts around it.
std::optional<Opcode> RecognisedCombiner(const Computation& computation);

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

// Which elements make up each result element.
class FoldTerms {
 public:
  virtual ~FoldTerms() = default;
  virtual int64_t results() const = 0;
  // The element of the initial values that result element o begins with.
  virtual int64_t InitOf(int64_t) const { return 0; }
  // The elements of the inputs that are combined into it, in order; `terms` is overwritten.
  virtual void List(int64_t o, IndexMap& terms) const = 0;
};

struct FoldRules {
  // Rounding to the element type after every step is the meaning, not a freedom: scatter.
  bool stepwise = false;
  // The order of the inputs is unspecified, but one is combined after the other: scatter.
  bool any_order = false;
};

// Per input k an array of `dimensions` whose elements o are
//   f(... f(f(init[InitOf(o)], input[terms[0]]), input[terms[1]]) ...)
// with bounds in bound mode.
absl::StatusOr<std::vector<Array>> Fold(Interpreter& interpreter, const OpContext& op,
                                        const Computation& combiner,
                                        absl::Span<const Array* const> inputs,
                                        absl::Span<const Array* const> inits,
                                        const FoldTerms& terms,
                                        absl::Span<const int64_t> dimensions, FoldRules rules);

// The operands of the members of a group, arrays of `shape`, combined element by element: with the
// computation of `op` in any order that a reduce allows, starting from the first member.
absl::StatusOr<Value> CombineMembers(Interpreter& interpreter, const OpContext& op,
                                     const Shape& shape, absl::Span<const Value* const> members);

// One array as itself, several as a tuple of them.
Value Collate(std::vector<Array> arrays, bool as_tuple, MemoryMeter& memory);

// Applies a computation of scalars to equally many elements of several arrays, all of
// `dimensions`: all at once if it can be lifted, else one after the other. The results are the
// leaves of the computation's result.
absl::StatusOr<std::vector<Value>> ApplyToElements(Interpreter& interpreter,
                                                   const Computation& computation,
                                                   absl::Span<const Value> arguments,
                                                   absl::Span<const int64_t> dimensions);

// Elements map[i] of an array as an array of rank 1.
Value PickElements(const Array& source, absl::Span<const int64_t> map, MemoryMeter& memory);

// Bounds of a fold with a recognised combiner; the literal of `result` is the plain value.
void BoundRecognisedFold(const OpContext& op, Opcode combiner, const Array& input,
                         const Array& init, const FoldTerms& terms, FoldRules rules, Array& result);

}  // namespace assay::reference
