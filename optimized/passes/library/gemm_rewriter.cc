// A rule for the dot, and one for each thing that a call can take in: each looks at one instruction
// whose operand is a call that nobody else reads.
#include "optimized/passes/library/gemm_rewriter.h"

#include <algorithm>
#include <cmath>

#include "optimized/passes/library/call_match.h"
#include "optimized/passes/library/op_writer.h"
#include "optimized/passes/util/dot_dimensions.h"
#include "optimized/passes/util/module_util.h"
#include "optimized/passes/util/rule_util.h"

namespace assay {
namespace {

using enum LibraryRoutine;

// One free and one contracting dimension on each side, behind the same batch dimensions.
bool IsMatrixProduct(const Instruction& dot) {
  const DotDimensions lhs = DotDimensions::Of(dot, 0), rhs = DotDimensions::Of(dot, 1);
  if (lhs.free.size() != 1 || rhs.free.size() != 1 || lhs.summed.size() != 1 ||
      rhs.summed.size() != 1)
    return false;
  for (size_t d = 0; d < lhs.batch.size(); ++d)
    if (lhs.batch[d] != static_cast<int64_t>(d) || rhs.batch[d] != static_cast<int64_t>(d))
      return false;
  return true;
}

bool HasUsualPrecision(const Instruction& dot) {
  const absl::Span<const int64_t> precisions = dot.attributes().Integers(Attr::kOperandPrecision);
  return std::all_of(precisions.begin(), precisions.end(), [](int64_t p) { return p == 0; });
}

class GemmRules {
 public:
  explicit GemmRules(PassContext& context) : context_(context) {}

  bool Apply(Instruction* inst) {
    if (!IsPlain(*inst)) return false;
    switch (inst->opcode()) {
      case Opcode::kDot:
        return TakeDot(inst);
      case Opcode::kMultiply:
        return TakeAlpha(inst);
      case Opcode::kAdd:
        return TakeC(inst) || TakeBias(inst);
      case Opcode::kMaximum:
        return TakeRelu(inst);
      default:
        return false;
    }
  }

 private:
  bool Holds(std::string_view claim, const Instruction* at, bool holds) {
    return context_.gates.Holds(claim, at, holds);
  }

  bool TakeDot(Instruction* dot) {
    if (dot->shape().ElementCount() == 0 || dot->operand(0)->shape().ElementCount() == 0 ||
        !IsMatrixProduct(*dot) || !HasUsualPrecision(*dot))
      return false;
    const Attributes& given = dot->attributes();
    const auto list = [&](Attr attr) {
      const absl::Span<const int64_t> dims = given.Integers(attr);
      return Int64List(dims.begin(), dims.end());
    };
    GemmConfig config;
    config.lhs_batch = list(Attr::kLhsBatchDims);
    config.rhs_batch = list(Attr::kRhsBatchDims);
    config.lhs_contracting = list(Attr::kLhsContractingDims);
    config.rhs_contracting = list(Attr::kRhsContractingDims);
    if (given.Has(Attr::kAlgorithm) && given.Integer(Attr::kAlgorithm) != 0)
      config.precision_algorithm = WordAt(Attr::kAlgorithm, given.Integer(Attr::kAlgorithm));
    const CallPlan plan{.routine = kGemm,
                        .shape = dot->shape(),
                        .operands = {dot->operand(0), dot->operand(1)},
                        .attributes = {},
                        .config = WriteConfig(config)};
    if (!plan.IsSound()) return false;
    Rewrite rewrite(context_.gates, "dot-to-library", dot);
    return rewrite && rewrite.Replace(plan.AddTo(dot->parent()));
  }

  // The call in the place of `at`, with another config.
  bool Change(std::string_view rule, Instruction* at, const MadeByCall& made,
              const GemmConfig& config, std::initializer_list<Instruction*> more) {
    CallPlan plan = PlanOf(made);
    const bool has_epilogue = config.has_bias || config.activation != LibraryActivation::kNone;
    plan.routine = has_epilogue ? kGemmLt : made.read.routine;
    plan.config = WriteConfig(config);
    plan.operands.insert(plan.operands.end(), more.begin(), more.end());
    if (made.call->shape().IsTuple() || !plan.IsSound()) return false;
    Rewrite rewrite(context_.gates, rule, at);
    return rewrite && rewrite.Replace(plan.AddTo(at->parent()));
  }

  bool TakeAlpha(Instruction* at) {
    const std::optional<CallAndOther> found = SplitByCall(at, kGemm, kGemmLt);
    if (!found.has_value()) return false;
    const ElementType type = at->shape().element_type();
    const Literal* factor = SplatElement(found->other);
    GemmConfig config = found->made.read.gemm;
    const bool fits = factor != nullptr && !IsInteger(type) && config.beta == 0 &&
                      !config.has_bias && config.activation == LibraryActivation::kNone &&
                      config.alpha_real == 1 && config.alpha_imag == 0;
    if (!fits || !MayRoundOnce(type, context_) ||
        !Holds("gemm-alpha/single-user", at, IsReadOnce(found->value)))
      return false;
    const bool is_complex = IsComplex(type);
    config.alpha_real = is_complex ? factor->GetComponent(0) : factor->GetDouble(0);
    if (is_complex) config.alpha_imag = factor->GetComponent(1);
    // BLAS does not look at A and B where alpha is zero; a product by zero does.
    const bool is_zero = config.alpha_real == 0 && config.alpha_imag == 0;
    if (is_zero || !std::isfinite(config.alpha_real) || !std::isfinite(config.alpha_imag))
      return false;
    return Change("gemm-alpha", at, found->made, config, {});
  }

  bool TakeC(Instruction* at) {
    const std::optional<CallAndOther> found = SplitByCall(at, kGemm, kGemmLt);
    if (!found.has_value()) return false;
    const ElementType type = at->shape().element_type();
    GemmConfig config = found->made.read.gemm;
    if (IsInteger(type) || config.beta != 0 || !MayRoundOnce(type, context_) ||
        !Holds("gemm-beta/no-epilogue", at,
               !config.has_bias && config.activation == LibraryActivation::kNone) ||
        !Holds("gemm-beta/single-user", at, IsReadOnce(found->value)))
      return false;
    const Scaled c = SplitScale(found->other);
    // A broadcast is a bias, or cheaper as part of a kernel; what others read stays outside.
    if (c.array->opcode() == Opcode::kBroadcast || c.array == found->value ||
        !Holds("gemm-beta/c-single-user", at, IsReadOnce(c.array)))
      return false;
    config.beta = c.factor;
    return Change("gemm-beta", at, found->made, config, {c.array});
  }

  bool TakeBias(Instruction* at) {
    const std::optional<CallAndOther> found = SplitByCall(at, kGemm, kGemmLt);
    if (!found.has_value() || found->other->opcode() != Opcode::kBroadcast) return false;
    const ElementType type = at->shape().element_type();
    GemmConfig config = found->made.read.gemm;
    Instruction* bias = found->other->operand(0);
    const absl::Span<const int64_t> dims = found->other->attributes().Integers(Attr::kDimensions);
    if (IsInteger(type) || config.has_bias || bias->shape().rank() != 1 ||
        !MayRoundOnce(type, context_) ||
        !Holds("gemm-bias/no-activation", at, config.activation == LibraryActivation::kNone) ||
        !Holds("gemm-bias/columns", at, dims[0] == at->shape().rank() - 1) ||
        !Holds("gemm-bias/single-user", at, IsReadOnce(found->value)))
      return false;
    config.has_bias = true;
    return Change("gemm-bias", at, found->made, config, {bias});
  }

  bool TakeRelu(Instruction* at) {
    const std::optional<CallAndOther> found = SplitByCall(at, kGemm, kGemmLt);
    if (!found.has_value()) return false;
    GemmConfig config = found->made.read.gemm;
    const ElementType type = at->shape().element_type();
    const std::optional<double> least = SplatFloat(found->other);
    if (!IsFloat(type) || config.activation != LibraryActivation::kNone || !least.has_value() ||
        !Holds("gemm-relu/zero", at, *least == 0 && !std::signbit(*least)) ||
        !Holds("gemm-relu/single-user", at, IsReadOnce(found->value)))
      return false;
    config.activation = LibraryActivation::kRelu;
    return Change("gemm-relu", at, found->made, config, {});
  }

  PassContext& context_;
};

// Bytes may grow by this factor at most.
constexpr double kMostGrowth = 2;

int64_t RoundUp(int64_t size, int64_t multiple) {
  return (size + multiple - 1) / multiple * multiple;
}

}  // namespace

absl::StatusOr<bool> GemmRewriter::Run(Module& module, PassContext& context) {
  GemmRules rules(context);
  bool changed = false;
  for (Computation* computation : UnitComputations(module))
    for (Instruction* inst : computation->InPostOrder()) changed |= rules.Apply(inst);
  return changed;
}

absl::StatusOr<bool> CublasGemmPad::Run(Module& module, PassContext& context) {
  const GpuFacts& facts = FactsOf(context);
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    for (Instruction* dot : computation->InPostOrder()) {
      if (dot->opcode() != Opcode::kDot || !IsPlain(*dot) || !IsMatrixProduct(*dot)) continue;
      const ElementType type = dot->operand(0)->shape().element_type();
      const int64_t multiple = facts.MultipleOf(type);
      if (multiple == 0 || dot->operand(1)->shape().element_type() != type ||
          dot->shape().ElementCount() == 0 || dot->operand(0)->shape().ElementCount() == 0)
        continue;
      // The last two dimensions of both sides and of the result; batches stay.
      const auto padded = [&](const Shape& shape) {
        Int64List sizes(shape.dimensions().begin(), shape.dimensions().end());
        for (int64_t d = shape.rank() - 2; d < shape.rank(); ++d) {
          const int64_t at = context.gates.Number("pad-dot/multiple", dot, multiple);
          sizes[d] = RoundUp(sizes[d], at);
        }
        return sizes;
      };
      double before = 0, after = 0;
      bool any = false;
      for (const Shape* shape :
           {&dot->operand(0)->shape(), &dot->operand(1)->shape(), &dot->shape()}) {
        double elements = 1;
        for (int64_t size : padded(*shape)) elements *= static_cast<double>(size);
        before += static_cast<double>(shape->ElementCount());
        after += elements;
        any = any ||
              padded(*shape) != Int64List(shape->dimensions().begin(), shape->dimensions().end());
      }
      if (!any || after > kMostGrowth * before) continue;
      Rewrite rewrite(context.gates, "pad-dot", dot);
      if (!rewrite) continue;
      const OpWriter ops(computation);
      const auto pad = [&](Instruction* side) {
        const Int64List sizes = padded(side->shape());
        Int64List high;
        for (int64_t d = 0; d < side->shape().rank(); ++d)
          high.push_back(sizes[d] - side->shape().dimension(d));
        const bool stays = std::all_of(high.begin(), high.end(), [](int64_t h) { return h == 0; });
        return stays ? side : ops.PadWithZeros(side, Int64List(high.size(), 0), high);
      };
      Instruction* wide = computation->Add(
          Opcode::kDot, Shape::Array(dot->shape().element_type(), padded(dot->shape())),
          {pad(dot->operand(0)), pad(dot->operand(1))}, dot->attributes());
      const bool is_same = SameShape(wide, dot);
      changed |= rewrite.Replace(is_same ? wide : ops.FirstPart(wide, dot->shape().dimensions()));
    }
  }
  return changed;
}

}  // namespace assay
