// The sizes that follow for an op when its operands get other sizes: those that its attributes
// hold, and those of its result and of its other operands.
#pragma once

#include <cstdint>
#include <vector>

#include "spec/ir/instruction.h"

namespace assay {

// Brings the sizes along that attributes hold: of the windows of a convolution, the slices of a
// gather, the first values of a top-k, the lengths of a Fourier transform.
void FitAttributes(Instruction* changed);

// The size that a dimension of an array in the result of `of` has to have.
struct FollowingSize {
  const Instruction* of;
  int64_t leaf, dimension, size;
};

// The sizes that the op's rule demands where `changed`, the copy of `original` with other sizes,
// has other sizes; `of` names instructions of the original. Empty where all agree, and where an
// operand fits in no way that is known here: then the verifier has the last word.
std::vector<FollowingSize> FollowingSizes(const Instruction* original, const Instruction* changed);

}  // namespace assay
