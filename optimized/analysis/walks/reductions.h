// Facts about reduce and reduce-window. Document: operation semantics chapter 10.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "spec/ir/module.h"

namespace assay {

// The op of a recognised combiner: a root of two parameters, maybe wrapped in float converts.
std::optional<Opcode> RecognisedCombiner(const Computation& computation);
// The opcode that a reduce or a reduce-window of one array applies; nullopt: several arrays, or
// another computation.
std::optional<Opcode> CombinerOf(const Instruction& reduction);

struct ReduceDims {
  std::vector<int64_t> kept, reduced;

  static ReduceDims Of(const Instruction& reduce);
};

// True if the window holds one element and moves by one.
bool IsSingle(const WindowDim& window);

// A window that holds everything up to each element along one dimension, or everything from it on,
// and one element in the others: one running value does what the windows would add up again and
// again.
struct CumulativeWindow {
  int64_t dim;
  bool reverse;  // only where the order of the combiner is free
};
std::optional<CumulativeWindow> RecogniseCumulative(const Instruction& instruction);

// Elements before, along and behind the dimension of a cumulative window.
struct LineSizes {
  int64_t outer = 1, along = 1, inner = 1;

  static LineSizes Of(const Instruction& instruction, const CumulativeWindow& window);
  // The number of lines that threads can share: along the dimensions before the window's, or, where
  // those are one line, elements of those behind it, which lie side by side.
  int64_t extent() const { return outer > 1 ? outer : inner; }
  bool splits_columns() const { return outer == 1; }
};

// The first array of a shape.
const Shape& FirstLeaf(const Shape& shape);

}  // namespace assay
