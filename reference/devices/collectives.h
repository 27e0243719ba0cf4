// Keeps what devices exchange: meetings of a group in a collective, channels of send and recv.
// Documents: operation semantics 15.1, hlo-format 4.0.7 and 4.3.
#pragma once

#include "reference/interpreter/interpreter.h"
#include "reference/interpreter/mesh/exchange.h"

namespace assay::reference {

// Waits for the pending value of the operand and gives it.
absl::StatusOr<Value> ApplyDone(Interpreter& interpreter, const OpContext& op);

}  // namespace assay::reference
