// Element-wise binary ops and compare. Document: operation semantics chapter 6.
#include "reference/bounds/elementwise/binary.h"
#include "reference/bounds/elementwise/compare.h"
#include "reference/scalar/binary_ops.h"
#include "reference/scalar/compare.h"
#include "reference/values/elementwise.h"

namespace assay::reference {
namespace {

absl::Status EvaluateCompare(const OpContext& op, Literal& result) {
  const Direction direction = DirectionOf(op.instruction);
  const bool total_order = IsTotalOrder(op.instruction);
  bool done = false;
  DispatchComputed(op.literal(0).element_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    absl::Span<const T> a = op.literal(0).data<T>(), b = op.literal(1).data<T>();
    absl::Span<bool> out = result.data<bool>();
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = total_order && kIsReal<T> ? CompareTotalOrder(direction, a[i], b[i])
                                         : CompareValues(direction, a[i], b[i]);
    }
    done = true;
  });
  return done ? absl::OkStatus() : UnsupportedType(op, op.literal(0).element_type());
}

}  // namespace

absl::Span<const OpEvaluation> ElementwiseBinaryEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {Opcode::kAdd, EvaluateBinary<Add>, BoundBinary<AddBound>},
      {Opcode::kSubtract, EvaluateBinary<Subtract>, BoundBinary<SubtractBound>},
      {Opcode::kMultiply, EvaluateBinary<Multiply>, BoundBinary<MultiplyBound>},
      {Opcode::kMulhi, EvaluateBinary<MultiplyHigh>, BoundNonFloat<EvaluateBinary<MultiplyHigh>>},
      {Opcode::kDivide, EvaluateBinary<Divide>, BoundBinary<DivideBound>},
      {Opcode::kRemainder, EvaluateBinary<Remainder>, BoundBinary<RemainderBound>},
      {Opcode::kPower, EvaluateBinary<Power>, BoundBinary<PowerBound>},
      {Opcode::kAtan2, EvaluateBinary<Atan2>, BoundBinary<Atan2Bound>},
      {Opcode::kMaximum, EvaluateBinary<Maximum>, BoundBinary<MaximumBound>},
      {Opcode::kMinimum, EvaluateBinary<Minimum>, BoundBinary<MinimumBound>},
      {Opcode::kAnd, EvaluateBinary<And>, BoundNonFloat<EvaluateBinary<And>>},
      {Opcode::kOr, EvaluateBinary<Or>, BoundNonFloat<EvaluateBinary<Or>>},
      {Opcode::kXor, EvaluateBinary<Xor>, BoundNonFloat<EvaluateBinary<Xor>>},
      {Opcode::kShiftLeft, EvaluateBinary<ShiftLeft>, BoundNonFloat<EvaluateBinary<ShiftLeft>>},
      {Opcode::kShiftRightLogical, EvaluateBinary<ShiftRightLogical>,
       BoundNonFloat<EvaluateBinary<ShiftRightLogical>>},
      {Opcode::kShiftRightArithmetic, EvaluateBinary<ShiftRightArithmetic>,
       BoundNonFloat<EvaluateBinary<ShiftRightArithmetic>>},
      {Opcode::kCompare, EvaluateCompare, BoundCompare<EvaluateCompare>},
  };
  return kRows;
}

}  // namespace assay::reference
