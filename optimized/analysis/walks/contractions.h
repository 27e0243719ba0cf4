// Facts about dots and convolutions. Document: operation semantics chapter 11.
#pragma once

#include <cstdint>
#include <vector>

#include "spec/ir/module.h"

namespace assay {

// Type in which a dot or a convolution accumulates.
ElementType DotAccumulator(const Instruction& dot);

// The result dimension of each operand dimension; -1 - k: the k-th contracted one.
struct DotDims {
  std::vector<int64_t> lhs, rhs;

  static DotDims Of(const Instruction& dot);
};

}  // namespace assay
