// Evaluates ops of constants for the forms that a profile licenses
// (reference/licenses/constants.h), plainly and within a small budget of its own.
#pragma once

#include <optional>

#include "reference/interpreter/interpreter.h"

namespace assay::reference {

class ConstantFolder {
 public:
  ConstantFolder();
  // None where the op is refused, has a dynamic shape or costs too much.
  std::optional<Value> Evaluate(const Instruction& instruction, const Shape& shape,
                                absl::Span<const Value* const> operands);

 private:
  Budget budget_;
  Interpreter interpreter_;
};

}  // namespace assay::reference
