// The direction of a comparison whose operands change places.
#pragma once

#include "spec/attributes/attribute_words.h"

namespace assay {

// a < b is b > a; equality has no direction to turn.
constexpr Direction Mirrored(Direction direction) {
  switch (direction) {
    case Direction::kGe:
      return Direction::kLe;
    case Direction::kGt:
      return Direction::kLt;
    case Direction::kLe:
      return Direction::kGe;
    case Direction::kLt:
      return Direction::kGt;
    default:
      return direction;
  }
}

}  // namespace assay
