// Clamp and select. Document: operation semantics chapter 7.
#include "reference/bounds/elementwise/ternary.h"
#include "reference/scalar/binary_ops.h"
#include "reference/values/elementwise.h"

namespace assay::reference {
namespace {

// minimum(maximum(x, low), high); NaN in any of the three gives NaN.
template <typename T>
T ClampElement(T low, T x, T high) {
  if constexpr (kIsReal<T>) {
    using W = Working<T>;
    return Round<T>(Minimum::Real<W>(Maximum::Real<W>(Widen<W>(x), Widen<W>(low)), Widen<W>(high)));
  } else if constexpr (kIsPred<T>) {
    return (x || low) && high;
  } else {
    return Minimum::Integer<T>(Maximum::Integer<T>(x, low), high);
  }
}

absl::Status EvaluateClamp(const OpContext& op, Literal& result) {
  bool done = DispatchComputed(op.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    absl::Span<const T> low = op.literal(0).data<T>(), x = op.literal(1).data<T>(),
                        high = op.literal(2).data<T>();
    absl::Span<T> out = result.data<T>();
    const bool one_low = op.literal(0).shape().rank() == 0;
    const bool one_high = op.literal(2).shape().rank() == 0;
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = ClampElement<T>(low[one_low ? 0 : i], x[i], high[one_high ? 0 : i]);
  });
  return done ? absl::OkStatus() : UnsupportedType(op, op.type());
}

// Moves bits: NaN payloads survive.
template <typename Bits>
void SelectElements(const OpContext& op, Literal& result) {
  absl::Span<const bool> predicate = op.literal(0).data<bool>();
  absl::Span<const Bits> on_true = op.literal(1).data<Bits>(),
                         on_false = op.literal(2).data<Bits>();
  absl::Span<Bits> out = result.data<Bits>();
  const bool one_predicate = op.literal(0).shape().rank() == 0;
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = predicate[one_predicate ? 0 : i] ? on_true[i] : on_false[i];
}

absl::Status EvaluateSelect(const OpContext& op, Literal& result) {
  switch (StorageBytes(op.type())) {
    case 1:
      SelectElements<uint8_t>(op, result);
      return absl::OkStatus();
    case 2:
      SelectElements<uint16_t>(op, result);
      return absl::OkStatus();
    case 4:
      SelectElements<uint32_t>(op, result);
      return absl::OkStatus();
    case 8:
      SelectElements<uint64_t>(op, result);
      return absl::OkStatus();
    case 16:
      SelectElements<std::complex<double>>(op, result);
      return absl::OkStatus();
    default:
      return UnsupportedType(op, op.type());
  }
}

}  // namespace

absl::Span<const OpEvaluation> ElementwiseTernaryEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {.opcode = Opcode::kClamp, .evaluate = EvaluateClamp, .bound = BoundClamp<EvaluateClamp>},
      {.opcode = Opcode::kSelect,
       .evaluate = EvaluateSelect,
       .bound = BoundSelect,
       .any_type = true},
  };
  return kRows;
}

}  // namespace assay::reference
