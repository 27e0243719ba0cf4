// Keeps what devices exchange: meetings of a group in a collective, channels of send and recv.
// Documents: operation semantics 15.1, hlo-format 4.0.7 and 4.3.
#pragma once

#include "reference/interpreter/interpreter.h"
#include "reference/interpreter/mesh/exchange.h"

namespace assay::reference {

// Waits for the pending value of the operand and gives it.
absl::StatusOr<Value> ApplyDone(Interpreter& interpreter, const OpContext& op);

// Ends here all that has begun in `value`, or in parts of it: contexts get their elements. A done
// may still follow.
absl::StatusOr<Value> EndPending(Interpreter& interpreter, const OpContext& op, const Value& value);

// The value of a transfer that nobody has to be waited for.
std::shared_ptr<const Pending> Ready(Value value);

// The elements of a context of `shape`, of which the first ones are given: the numbers that come
// behind them are an implementation's own.
Value ContextOf(Interpreter& interpreter, const Shape& shape, std::vector<Value> first);

}  // namespace assay::reference
