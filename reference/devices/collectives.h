// The end of asynchronous communication: what the done instructions do with pending values.
#pragma once

#include "reference/interpreter/interpreter.h"
#include "reference/interpreter/mesh/exchange.h"

namespace assay::reference {

// Waits for the pending value of the operand and gives it.
absl::StatusOr<Value> ApplyDone(Interpreter& interpreter, const OpContext& op);

}  // namespace assay::reference
