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
      {.opcode = Opcode::kAdd, .evaluate = EvaluateBinary<Add>, .bound = BoundBinary<AddBound>},
      {.opcode = Opcode::kSubtract,
       .evaluate = EvaluateBinary<Subtract>,
       .bound = BoundBinary<SubtractBound>},
      {.opcode = Opcode::kMultiply,
       .evaluate = EvaluateBinary<Multiply>,
       .bound = BoundBinary<MultiplyBound>},
      {.opcode = Opcode::kMulhi,
       .evaluate = EvaluateBinary<MultiplyHigh>,
       .bound = BoundNonFloat<EvaluateBinary<MultiplyHigh>>},
      {.opcode = Opcode::kDivide,
       .evaluate = EvaluateBinary<Divide>,
       .bound = BoundBinary<DivideBound>},
      {.opcode = Opcode::kRemainder,
       .evaluate = EvaluateBinary<Remainder>,
       .bound = BoundBinary<RemainderBound>},
      {.opcode = Opcode::kPower,
       .evaluate = EvaluateBinary<Power>,
       .bound = BoundBinary<PowerBound>},
      {.opcode = Opcode::kAtan2,
       .evaluate = EvaluateBinary<Atan2>,
       .bound = BoundBinary<Atan2Bound>},
      {.opcode = Opcode::kMaximum,
       .evaluate = EvaluateBinary<Maximum>,
       .bound = BoundBinary<MaximumBound>},
      {.opcode = Opcode::kMinimum,
       .evaluate = EvaluateBinary<Minimum>,
       .bound = BoundBinary<MinimumBound>},
      {.opcode = Opcode::kAnd,
       .evaluate = EvaluateBinary<And>,
       .bound = BoundNonFloat<EvaluateBinary<And>>},
      {.opcode = Opcode::kOr,
       .evaluate = EvaluateBinary<Or>,
       .bound = BoundNonFloat<EvaluateBinary<Or>>},
      {.opcode = Opcode::kXor,
       .evaluate = EvaluateBinary<Xor>,
       .bound = BoundNonFloat<EvaluateBinary<Xor>>},
      {.opcode = Opcode::kShiftLeft,
       .evaluate = EvaluateBinary<ShiftLeft>,
       .bound = BoundNonFloat<EvaluateBinary<ShiftLeft>>},
      {.opcode = Opcode::kShiftRightLogical,
       .evaluate = EvaluateBinary<ShiftRightLogical>,
       .bound = BoundNonFloat<EvaluateBinary<ShiftRightLogical>>},
      {.opcode = Opcode::kShiftRightArithmetic,
       .evaluate = EvaluateBinary<ShiftRightArithmetic>,
       .bound = BoundNonFloat<EvaluateBinary<ShiftRightArithmetic>>},
      {.opcode = Opcode::kCompare,
       .evaluate = EvaluateCompare,
       .bound = BoundCompare<EvaluateCompare>},
  };
  return kRows;
}

}  // namespace assay::reference
