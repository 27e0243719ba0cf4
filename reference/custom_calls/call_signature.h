// The shapes of a custom call on matrices, as a line of text: "mn > mn, k, :i" takes matrices of m
// rows and n columns, gives another one, a vector and a number of each.
#pragma once

#include <string_view>

#include "reference/interpreter/interpreter.h"

namespace assay::reference {

// unsupported, unless operands and results have the shapes of `signature`: operands, '>', results,
// with commas between them. Each has the batch dimensions of operand 0 in front, then a size per
// letter; a letter stands for one size, but for these, of operand 0's last two sizes:
//   k  the smaller one      j  the last one less one, at least 0
//   t  any up to k          u  the first one or k          v  the last one or k
// Behind ':' stands the element type if it is not operand 0's: i for s32, r for the real type of
// its parts, c for the complex type of such parts.
absl::Status CheckSignature(const OpContext& op, std::string_view signature);

}  // namespace assay::reference
