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
      {.opcode = Opcode::kAbs, .evaluate = EvaluateUnary<Abs>, .bound = BoundAbs},
      {.opcode = Opcode::kNegate, .evaluate = EvaluateUnary<Negate>, .bound = BoundNegate},
      {.opcode = Opcode::kSign, .evaluate = EvaluateUnary<Sign>, .bound = BoundStep<Sign>},
      {.opcode = Opcode::kNot,
       .evaluate = EvaluateUnary<Not>,
       .bound = BoundNonFloat<EvaluateUnary<Not>>},
      {.opcode = Opcode::kPopcnt,
       .evaluate = EvaluateUnary<PopulationCount>,
       .bound = BoundNonFloat<EvaluateUnary<PopulationCount>>},
      {.opcode = Opcode::kClz,
       .evaluate = EvaluateUnary<CountLeadingZeros>,
       .bound = BoundNonFloat<EvaluateUnary<CountLeadingZeros>>},
      {.opcode = Opcode::kCeil, .evaluate = EvaluateUnary<Ceil>, .bound = BoundStep<Ceil>},
      {.opcode = Opcode::kFloor, .evaluate = EvaluateUnary<Floor>, .bound = BoundStep<Floor>},
      {.opcode = Opcode::kRoundNearestAfz,
       .evaluate = EvaluateUnary<RoundNearestAfz>,
       .bound = BoundStep<RoundNearestAfz>},
      {.opcode = Opcode::kRoundNearestEven,
       .evaluate = EvaluateUnary<RoundNearestEven>,
       .bound = BoundStep<RoundNearestEven>},
      {.opcode = Opcode::kIsFinite, .evaluate = EvaluateIsFinite, .bound = BoundIsFinite},
      {.opcode = Opcode::kSqrt,
       .evaluate = EvaluateUnary<Sqrt>,
       .bound = BoundMonotone<SqrtFunction>},
      {.opcode = Opcode::kExponential, .evaluate = EvaluateUnary<Exp>, .bound = BoundMonotone<Exp>},
      {.opcode = Opcode::kExponentialMinusOne,
       .evaluate = EvaluateUnary<Expm1>,
       .bound = BoundMonotone<Expm1>},
      {.opcode = Opcode::kLog, .evaluate = EvaluateUnary<Log>, .bound = BoundMonotone<Log>},
      {.opcode = Opcode::kLogPlusOne,
       .evaluate = EvaluateUnary<Log1p>,
       .bound = BoundMonotone<Log1p>},
      {.opcode = Opcode::kRsqrt, .evaluate = EvaluateUnary<Rsqrt>, .bound = BoundMonotone<Rsqrt>},
      {.opcode = Opcode::kCbrt, .evaluate = EvaluateUnary<Cbrt>, .bound = BoundMonotone<Cbrt>},
      {.opcode = Opcode::kTanh, .evaluate = EvaluateUnary<Tanh>, .bound = BoundMonotone<Tanh>},
      {.opcode = Opcode::kLogistic,
       .evaluate = EvaluateUnary<Logistic>,
       .bound = BoundMonotone<Logistic>},
      {.opcode = Opcode::kErf, .evaluate = EvaluateUnary<Erf>, .bound = BoundMonotone<Erf>},
      {.opcode = Opcode::kAcos, .evaluate = EvaluateUnary<Acos>, .bound = BoundMonotone<Acos>},
      {.opcode = Opcode::kAcosh, .evaluate = EvaluateUnary<Acosh>, .bound = BoundMonotone<Acosh>},
      {.opcode = Opcode::kAsin, .evaluate = EvaluateUnary<Asin>, .bound = BoundMonotone<Asin>},
      {.opcode = Opcode::kAsinh, .evaluate = EvaluateUnary<Asinh>, .bound = BoundMonotone<Asinh>},
      {.opcode = Opcode::kAtanh, .evaluate = EvaluateUnary<Atanh>, .bound = BoundMonotone<Atanh>},
      {.opcode = Opcode::kSinh, .evaluate = EvaluateUnary<Sinh>, .bound = BoundMonotone<Sinh>},
      {.opcode = Opcode::kCosh, .evaluate = EvaluateUnary<Cosh>, .bound = BoundMonotone<Cosh>},
      {.opcode = Opcode::kSine, .evaluate = EvaluateUnary<Sine>, .bound = BoundPeriodic<Sine>},
      {.opcode = Opcode::kCosine,
       .evaluate = EvaluateUnary<Cosine>,
       .bound = BoundPeriodic<Cosine>},
      {.opcode = Opcode::kTan, .evaluate = EvaluateUnary<Tan>, .bound = BoundTan},
  };
  return kRows;
}

}  // namespace assay::reference
