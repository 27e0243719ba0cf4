#include "reference/liberties.h"

#include "reference/interpreter.h"
#include "spec/numerics/profile.h"

namespace assay::reference {
namespace {

// The number of the type next to `end` on the side of `centre`, or at it.
template <typename T>
T Inside(long double end, long double centre) {
  T value = static_cast<T>(end);
  if ((end > centre && value > end) || (end < centre && value < end))
    value = std::nextafter(value, static_cast<T>(centre));
  return value;
}

template <typename T>
void MoveElements(const Array& bounded, int liberty, Literal& result) {
  absl::Span<T> values = result.data<T>();
  for (size_t i = 0; i < values.size(); ++i) {
    const ElementBound& bound = bounded.bounds[i];
    if (bound.flags != 0) continue;
    const long double centre = static_cast<long double>(bound.centre) + bound.centre_low;
    // All up, all down, or each its own way.
    const bool up = liberty <= 2 ? liberty == 1 : ((i * 2654435761u + liberty) >> 3 & 1) != 0;
    // The bound has room for its own rounding, which is not the function's to take.
    const long double reach = static_cast<long double>(bound.radius) * (1 - 0x1p-20L);
    const T moved = Inside<T>(up ? centre + reach : centre - reach, centre);
    if (std::isnormal(moved)) values[i] = moved;
  }
}

}  // namespace

absl::Status MoveWithinBudget(const OpContext& op, BoundFn bound, int liberty, Literal& result) {
  const ElementType type = op.type();
  if (type != ElementType::kF32 && type != ElementType::kF64) return absl::OkStatus();
  Array bounded{result};
  if (absl::Status status = bound(op, bounded); !status.ok()) return status;
  if (bounded.bounds.empty()) return absl::OkStatus();
  if (type == ElementType::kF32) {
    MoveElements<float>(bounded, liberty, result);
  } else {
    MoveElements<double>(bounded, liberty, result);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Literal>> EvaluateWithLiberties(
    const Module& module, const std::vector<const Literal*>& arguments) {
  constexpr int kLiberties = 8;
  std::vector<Literal> results;
  for (int liberty = 1; liberty <= kLiberties; ++liberty) {
    Budget budget((Limits()));
    Interpreter interpreter(budget, nullptr);
    interpreter.set_liberty(liberty);
    std::vector<Value> values;
    for (const Literal* argument : arguments)
      values.push_back(MakeValue(*argument, interpreter.memory()));
    absl::StatusOr<Value> value = interpreter.Run(*module.entry(), values);
    if (!value.ok()) return value.status();
    results.push_back(ToLiteral(*value));
  }
  return results;
}

}  // namespace assay::reference
