// Applies the direction of a comparison to two values. Document: operation semantics chapter 6,
// Compare.
#pragma once

#include "spec/ir/instruction.h"

namespace assay {

template <typename T>
bool Holds(Direction direction, T a, T b) {
  switch (direction) {
    case Direction::kEq:
      return a == b;
    case Direction::kNe:
      return a != b;
    case Direction::kGe:
      return a >= b;
    case Direction::kGt:
      return a > b;
    case Direction::kLe:
      return a <= b;
    case Direction::kLt:
      return a < b;
  }
  return false;
}

}  // namespace assay
