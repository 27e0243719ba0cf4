// Element-wise unary ops. Document: operation semantics chapter 5.
#include "reference/bounds/elementwise/unary.h"
#include "reference/scalar/unary_ops.h"
#include "reference/values/elementwise.h"

namespace assay::reference {
namespace {

absl::Status EvaluateIsFinite(const OpContext& op, Literal& result) {
  bool done = false;
  DispatchComputed(op.literal(0).element_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsReal<T>) {
      MapUnary<T>(op.literal(0), result, [](T x) { return std::isfinite(Widen<Wide<T>>(x)); });
      done = true;
    }
  });
  return done ? absl::OkStatus() : UnsupportedType(op, op.literal(0).element_type());
}

}  // namespace

absl::Span<const OpEvaluation> ElementwiseUnaryEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {Opcode::kAbs, EvaluateUnary<Abs>, BoundAbs},
      {Opcode::kNegate, EvaluateUnary<Negate>, BoundNegate},
      {Opcode::kSign, EvaluateUnary<Sign>, BoundStep<Sign>},
      {Opcode::kNot, EvaluateUnary<Not>, BoundNonFloat<EvaluateUnary<Not>>},
      {Opcode::kPopcnt, EvaluateUnary<PopulationCount>,
       BoundNonFloat<EvaluateUnary<PopulationCount>>},
      {Opcode::kClz, EvaluateUnary<CountLeadingZeros>,
       BoundNonFloat<EvaluateUnary<CountLeadingZeros>>},
      {Opcode::kCeil, EvaluateUnary<Ceil>, BoundStep<Ceil>},
      {Opcode::kFloor, EvaluateUnary<Floor>, BoundStep<Floor>},
      {Opcode::kRoundNearestAfz, EvaluateUnary<RoundNearestAfz>, BoundStep<RoundNearestAfz>},
      {Opcode::kRoundNearestEven, EvaluateUnary<RoundNearestEven>, BoundStep<RoundNearestEven>},
      {Opcode::kIsFinite, EvaluateIsFinite, BoundIsFinite},
      {Opcode::kSqrt, EvaluateUnary<Sqrt>, BoundMonotone<SqrtFunction>},
      {Opcode::kExponential, EvaluateUnary<Exp>, BoundMonotone<Exp>},
      {Opcode::kExponentialMinusOne, EvaluateUnary<Expm1>, BoundMonotone<Expm1>},
      {Opcode::kLog, EvaluateUnary<Log>, BoundMonotone<Log>},
      {Opcode::kLogPlusOne, EvaluateUnary<Log1p>, BoundMonotone<Log1p>},
      {Opcode::kRsqrt, EvaluateUnary<Rsqrt>, BoundMonotone<Rsqrt>},
      {Opcode::kCbrt, EvaluateUnary<Cbrt>, BoundMonotone<Cbrt>},
      {Opcode::kTanh, EvaluateUnary<Tanh>, BoundMonotone<Tanh>},
      {Opcode::kLogistic, EvaluateUnary<Logistic>, BoundMonotone<Logistic>},
      {Opcode::kErf, EvaluateUnary<Erf>, BoundMonotone<Erf>},
      {Opcode::kAcos, EvaluateUnary<Acos>, BoundMonotone<Acos>},
      {Opcode::kAcosh, EvaluateUnary<Acosh>, BoundMonotone<Acosh>},
      {Opcode::kAsin, EvaluateUnary<Asin>, BoundMonotone<Asin>},
      {Opcode::kAsinh, EvaluateUnary<Asinh>, BoundMonotone<Asinh>},
      {Opcode::kAtanh, EvaluateUnary<Atanh>, BoundMonotone<Atanh>},
      {Opcode::kSinh, EvaluateUnary<Sinh>, BoundMonotone<Sinh>},
      {Opcode::kCosh, EvaluateUnary<Cosh>, BoundMonotone<Cosh>},
      {Opcode::kSine, EvaluateUnary<Sine>, BoundPeriodic<Sine>},
      {Opcode::kCosine, EvaluateUnary<Cosine>, BoundPeriodic<Cosine>},
      {Opcode::kTan, EvaluateUnary<Tan>, BoundTan},
  };
  return kRows;
}

}  // namespace assay::reference
