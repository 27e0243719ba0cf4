// Around a call, a variance is made of what cuDNN gives, or the other way round; where a gradient
// reads what a training call gave, neither is needed.
#include "optimized/passes/library/cudnn_norm_rewriter.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "optimized/passes/library/call_match.h"
#include "optimized/passes/library/op_writer.h"
#include "optimized/passes/util/module_util.h"
#include "optimized/passes/util/rule_util.h"

namespace assay {
namespace {

using enum LibraryRoutine;

bool IsNorm(Opcode opcode) {
  return opcode == Opcode::kBatchNormInference || opcode == Opcode::kBatchNormTraining ||
         opcode == Opcode::kBatchNormGrad;
}

LibraryRoutine RoutineOf(Opcode opcode) {
  if (opcode == Opcode::kBatchNormInference) return kNormInference;
  return opcode == Opcode::kBatchNormTraining ? kNormTraining : kNormBackward;
}

double EpsilonOf(const Instruction& norm) { return norm.attributes().Float(Attr::kEpsilon); }

bool HasNoControl(const Instruction& inst) {
  return inst.control_predecessors().empty() && inst.control_successors().empty();
}

// The variance of a training is read by gradients of the same epsilon alone, or by nobody: it need
// not be made again of what cuDNN gives, which would be noise where it is far below epsilon.
bool IsVarianceForGradients(const Instruction& training) {
  if (training.parent()->root() == &training) return false;
  return absl::c_all_of(training.users(), [&](const Instruction* element) {
    if (element->opcode() != Opcode::kGetTupleElement) return false;
    if (element->tuple_index() != 2) return true;
    if (element->parent()->root() == element) return false;
    return absl::c_all_of(element->users(), [&](const Instruction* reader) {
      return reader->opcode() == Opcode::kBatchNormGrad && reader->operand(3) == element &&
             EpsilonOf(*reader) == EpsilonOf(training) &&
             absl::c_count(reader->operands(), element) == 1;
    });
  });
}

// 1/(r r) - epsilon as AddVariance writes it: r, if the epsilon is that one.
Instruction* InverseBehind(Instruction* variance, double epsilon) {
  if (variance->opcode() != Opcode::kSubtract || !IsSplat(variance->operand(1), epsilon))
    return nullptr;
  Instruction* quotient = variance->operand(0);
  if (quotient->opcode() != Opcode::kDivide || !IsSplat(quotient->operand(0), 1)) return nullptr;
  Instruction* square = quotient->operand(1);
  const bool is_square =
      square->opcode() == Opcode::kMultiply && square->operand(0) == square->operand(1);
  if (!is_square || square->operand(0)->opcode() != Opcode::kGetTupleElement) return nullptr;
  Instruction* inverse = square->operand(0);
  const Instruction* call = inverse->operand(0);
  const bool is_given =
      inverse->tuple_index() == 2 && call->opcode() == Opcode::kCustomCall &&
      call->attributes().String(Attr::kCustomCallTarget) == TargetOf(kNormTraining).name;
  return is_given ? inverse : nullptr;
}

class NormRewrite {
 public:
  NormRewrite(Instruction* norm, PassContext& context)
      : norm_(norm), context_(context), ops_(norm->parent()), epsilon_(EpsilonOf(*norm)) {}

  bool Run() {
    const Shape& x = norm_->operand(0)->shape();
    if (x.element_type() != ElementType::kF32 || x.ElementCount() == 0 || x.HasDynamicDimension() ||
        !HasNoControl(*norm_) ||
        !context_.gates.Holds("norm-to-library/epsilon", norm_,
                              epsilon_ >= FactsOf(context_).least_norm_epsilon))
      return false;
    const bool trains = norm_->opcode() == Opcode::kBatchNormTraining;
    if (trains && !context_.options.fast_math && !IsVarianceForGradients(*norm_)) return false;
    CallPlan plan{.routine = RoutineOf(norm_->opcode()),
                  .shape = norm_->shape(),
                  .operands = {norm_->operands().begin(), norm_->operands().end()}};
    Rewrite rewrite(context_.gates, "norm-to-library", norm_);
    if (!rewrite) return false;
    if (norm_->opcode() == Opcode::kBatchNormGrad) plan.operands[3] = Inverse(plan.operands[3]);
    plan.operands.push_back(ops_.Splat(Shape::Scalar(ElementType::kF32), epsilon_));
    const int64_t feature = context_.gates.Number("norm-to-library/feature-index", norm_,
                                                  norm_->attributes().Integer(Attr::kFeatureIndex));
    plan.operands.push_back(AddScalarInteger(norm_->parent(), ElementType::kS64, feature));
    Instruction* call = plan.AddTo(norm_->parent());
    if (!trains) return rewrite.Replace(call);
    Instruction* variance = Variance(ops_.Element(call, 2));
    return rewrite.Replace(ops_.Tuple({ops_.Element(call, 0), ops_.Element(call, 1), variance}));
  }

 private:
  Instruction* Variance(Instruction* inverse) {
    Instruction* square = ops_.Binary(Opcode::kMultiply, inverse, inverse);
    Instruction* quotient = ops_.Binary(Opcode::kDivide, ops_.Splat(inverse->shape(), 1), square);
    return ops_.Binary(Opcode::kSubtract, quotient, ops_.Splat(inverse->shape(), epsilon_));
  }
  Instruction* Inverse(Instruction* variance) {
    // The tuple that a training became has not been taken apart yet.
    Instruction* made = variance;
    if (made->opcode() == Opcode::kGetTupleElement && made->operand(0)->opcode() == Opcode::kTuple)
      made = made->operand(0)->operand(made->tuple_index());
    if (Instruction* given = InverseBehind(made, epsilon_)) return given;
    Instruction* shifted =
        ops_.Binary(Opcode::kAdd, variance, ops_.Splat(variance->shape(), epsilon_));
    return ops_.Unary(Opcode::kRsqrt, shifted);
  }

  Instruction* norm_;
  PassContext& context_;
  OpWriter ops_;
  double epsilon_;
};

// Many small matrices are one kernel of our own; a call for each costs more.
constexpr int64_t kTinyOrder = 4, kManyMatrices = 16;

bool IsWorthACall(const Instruction& cholesky) {
  const Shape& shape = cholesky.shape();
  const int64_t n = shape.dimension(shape.rank() - 1);
  if (n == 0 || shape.ElementCount() == 0) return false;
  return n > kTinyOrder || shape.ElementCount() / (n * n) < kManyMatrices;
}

ElementType PartType(ElementType type) { return IsComplex(type) ? ComponentType(type) : type; }

Instruction* WriteCusolverCall(Instruction* cholesky, bool lower) {
  Computation* into = cholesky->parent();
  const OpWriter ops(into);
  Instruction* a = cholesky->operand(0);
  const Shape shape = WithType(a->shape(), a->shape().element_type());
  const int64_t rank = shape.rank(), n = shape.dimension(rank - 1);
  const absl::Span<const int64_t> batch = shape.dimensions().subspan(0, rank - 2);
  const CallPlan plan{.routine = kCholesky,
                      .shape = Shape::Tuple({shape, Shape::Array(shape.element_type(), {n}),
                                             Shape::Array(ElementType::kS32, batch)}),
                      .operands = {a},
                      .attributes = {},
                      .config = WriteCholeskyConfig(lower)};
  Instruction* call = plan.AddTo(into);
  const Shape places = WithType(shape, ElementType::kS32);
  const auto index = [&](int64_t d) {
    return into->Add(Opcode::kIota, places, {},
                     Attributes().Set(Attr::kIotaDimension, AttrValue(d)));
  };
  Instruction* inside =
      ops.Compare(lower ? Direction::kGe : Direction::kLe, index(rank - 2), index(rank - 1));
  Instruction* factor = ops.Select(inside, ops.Element(call, 0), ops.Splat(shape, 0));
  Instruction* info = ops.Element(call, 2);
  Int64List dims;
  for (int64_t d = 0; d < rank - 2; ++d) dims.push_back(d);
  Instruction* is_bad = ops.Compare(Direction::kNe, info, ops.Splat(info->shape(), 0));
  Instruction* nan = ops.Splat(WithType(shape, PartType(shape.element_type())),
                               std::numeric_limits<double>::quiet_NaN());
  if (IsComplex(shape.element_type())) nan = into->Add(Opcode::kComplex, shape, {nan, nan});
  return ops.Select(ops.Spread(is_bad, shape, dims), nan, factor);
}

}  // namespace

absl::StatusOr<bool> CudnnBatchNormRewriter::Run(Module& module, PassContext& context) {
  bool changed = false;
  for (Computation* computation : UnitComputations(module))
    for (Instruction* inst : computation->InPostOrder())
      if (IsNorm(inst->opcode())) changed |= NormRewrite(inst, context).Run();
  return changed;
}

absl::StatusOr<bool> CusolverRewriter::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kCholesky})) return false;
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (inst->opcode() != Opcode::kCholesky || !IsPlain(*inst)) continue;
      const ElementType type = inst->shape().element_type();
      const bool has_routine = BitWidth(type) >= 32 && (IsFloat(type) || IsComplex(type));
      if (!has_routine || !IsWorthACall(*inst)) continue;
      const bool lower = inst->attributes().Flag(Attr::kLower, false);
      Rewrite rewrite(context.gates, "cholesky-to-library", inst);
      if (rewrite) changed |= rewrite.Replace(WriteCusolverCall(inst, lower));
    }
  }
  return changed;
}

}  // namespace assay
