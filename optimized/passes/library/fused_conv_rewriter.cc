// A rule for each part of activation(alpha1 conv + alpha2 side + bias), and for the conversions of
// integer convolutions.
#include <cmath>
#include <utility>

#include "optimized/passes/library/call_match.h"
#include "optimized/passes/library/conv_rewriter.h"
#include "optimized/passes/library/op_writer.h"
#include "optimized/passes/util/module_util.h"
#include "optimized/passes/util/rule_util.h"

namespace assay {
namespace {

using enum LibraryRoutine;

class FusedConvRules {
 public:
  explicit FusedConvRules(PassContext& context) : context_(context) {}

  bool Apply(Instruction* inst) {
    if (!IsPlain(*inst)) return false;
    switch (inst->opcode()) {
      case Opcode::kMultiply:
        return TakeScale(inst);
      case Opcode::kAdd:
        return TakeSide(inst) || TakeBias(inst);
      case Opcode::kMaximum:
        return TakeRelu(inst);
      case Opcode::kConvert:
        return TakeBytes(inst) || TakeFloats(inst);
      default:
        return false;
    }
  }

 private:
  bool Holds(std::string_view claim, const Instruction* at, bool holds) {
    return context_.gates.Holds(claim, at, holds);
  }

  // A forward convolution that gives floats, and the other operand.
  std::optional<CallAndOther> FloatConv(std::string_view single_user, Instruction* at) {
    if (!IsFloat(at->shape().element_type())) return std::nullopt;
    for (LibraryRoutine routine : {kConvForward, kConvBiasActivation}) {
      std::optional<CallAndOther> found = SplitByCall(at, routine, routine);
      if (found.has_value() && Holds(single_user, at, IsReadOnce(found->value))) return found;
    }
    return std::nullopt;
  }

  struct Change {
    ConvConfig config;
    Instruction* bias = nullptr;  // nullptr: that of the call
    Instruction* side = nullptr;
    ElementType type;  // of the result
  };
  // The call in the place of `at`. One with a bias that is not needed has -0, which changes
  // nothing.
  bool Make(std::string_view rule, Instruction* at, const MadeByCall& made, const Change& change) {
    CallPlan plan = PlanOf(made);
    const ConvConfig& config = change.config;
    const bool is_fused = made.read.bias >= 0 || change.bias != nullptr || change.side != nullptr ||
                          config.activation != LibraryActivation::kNone;
    const Shape result = WithType(*made.read.result, change.type);
    std::vector<Shape> shapes = {result};
    if (made.call->shape().IsTuple()) {
      shapes.assign(made.call->shape().elements().begin(), made.call->shape().elements().end());
      shapes[0] = result;
      plan.shape = Shape::Tuple(shapes);
    } else {
      plan.shape = result;
    }
    plan.config = WriteConfig(config);
    plan.routine = is_fused ? kConvBiasActivation : kConvForward;
    const ElementType operands = plan.operands[0]->shape().element_type();
    const int64_t features = result.dimension(made.call->attributes().DimLabels()->output_feature);
    const Shape bias_shape =
        Shape::Array(operands == ElementType::kS8 ? ElementType::kF32 : operands, {features});
    Instruction* bias = change.bias != nullptr ? change.bias
                        : made.read.bias >= 0  ? made.call->operand(made.read.bias)
                                               : nullptr;
    Instruction* side = change.side != nullptr  ? change.side
                        : made.read.addend >= 0 ? made.call->operand(made.read.addend)
                                                : nullptr;
    plan.operands.resize(2);
    if (is_fused) plan.operands.push_back(bias != nullptr ? bias : plan.operands[0]);
    if (side != nullptr) plan.operands.push_back(side);
    if (bias == nullptr && is_fused) {
      // Sound but for the bias that is to come: its shape is right by construction.
      CallPlan without = plan;
      Module scratch("scratch");
      without.operands[2] = scratch.AddComputation("bias")->AddParameter(0, bias_shape);
      if (!without.IsSound()) return false;
    } else if (!plan.IsSound()) {
      return false;
    }
    Rewrite rewrite(context_.gates, rule, at);
    if (!rewrite) return false;
    const OpWriter ops(at->parent());
    if (bias == nullptr && is_fused) plan.operands[2] = ops.Splat(bias_shape, -0.0);
    Instruction* call = plan.AddTo(at->parent());
    return rewrite.Replace(call->shape().IsTuple() ? ops.Element(call, 0) : call);
  }

  bool TakeScale(Instruction* at) {
    const std::optional<CallAndOther> found = FloatConv("conv-scale/single-user", at);
    if (!found.has_value() || found->made.read.routine != kConvForward) return false;
    const ElementType type = at->shape().element_type();
    const std::optional<double> factor = FiniteSplat(found->other);
    ConvConfig config = found->made.read.conv;
    if (!factor.has_value() || *factor == 0 || config.result_scale != 1 ||
        !MayRoundOnce(type, context_))
      return false;
    config.result_scale = *factor;
    return Make("conv-scale", at, found->made, {.config = config, .type = type});
  }

  bool TakeSide(Instruction* at) {
    const std::optional<CallAndOther> found = FloatConv("conv-side-input/single-user", at);
    if (!found.has_value()) return false;
    const ElementType type = at->shape().element_type();
    ConvConfig config = found->made.read.conv;
    if (config.side_scale != 0 || found->other == found->value || !MayRoundOnce(type, context_) ||
        found->other->opcode() == Opcode::kBroadcast ||
        !Holds("conv-side-input/no-activation", at, found->made.read.routine == kConvForward))
      return false;
    const Scaled side = SplitScale(found->other);
    config.side_scale = side.factor;
    return Make("conv-side-input", at, found->made,
                {.config = config, .side = side.array, .type = type});
  }

  bool TakeBias(Instruction* at) {
    const std::optional<CallAndOther> found = FloatConv("conv-bias/single-user", at);
    if (!found.has_value() || found->other->opcode() != Opcode::kBroadcast) return false;
    const ElementType type = at->shape().element_type();
    const MadeByCall& made = found->made;
    const bool has_bias = made.read.bias >= 0 && !IsSplat(made.call->operand(made.read.bias), -0.0);
    Instruction* bias = found->other->operand(0);
    const absl::Span<const int64_t> dims = found->other->attributes().Integers(Attr::kDimensions);
    if (has_bias || bias->shape().rank() != 1 || !MayRoundOnce(type, context_) ||
        !Holds("conv-bias/no-activation", at,
               made.read.conv.activation == LibraryActivation::kNone) ||
        !Holds("conv-bias/features", at,
               dims[0] == made.call->attributes().DimLabels()->output_feature))
      return false;
    return Make("conv-bias", at, made, {.config = made.read.conv, .bias = bias, .type = type});
  }

  bool TakeRelu(Instruction* at) {
    const std::optional<CallAndOther> found = FloatConv("conv-relu/single-user", at);
    if (!found.has_value()) return false;
    ConvConfig config = found->made.read.conv;
    const std::optional<double> least = SplatFloat(found->other);
    if (!least.has_value() || config.activation != LibraryActivation::kNone ||
        !Holds("conv-relu/zero", at, *least == 0 && !std::signbit(*least)))
      return false;
    config.activation = LibraryActivation::kRelu;
    return Make("conv-relu", at, found->made,
                {.config = config, .type = at->shape().element_type()});
  }

  std::optional<MadeByCall> ByteConv(Instruction* value, ElementType result) {
    std::optional<MadeByCall> made = CallBehind(value);
    const bool fits =
        made.has_value() &&
        (made->read.routine == kConvForward || made->read.routine == kConvBiasActivation) &&
        made->call->operand(0)->shape().element_type() == ElementType::kS8 &&
        made->read.result->element_type() == result && IsReadOnce(value);
    return fits ? made : std::nullopt;
  }

  // f32 of sums of s32: a conversion to bytes would wrap, where cuDNN's saturates.
  bool TakeFloats(Instruction* at) {
    if (at->shape().element_type() != ElementType::kF32) return false;
    const std::optional<MadeByCall> made = ByteConv(at->operand(0), ElementType::kS32);
    return made.has_value() &&
           Make("conv-to-float", at, *made, {.config = made->read.conv, .type = ElementType::kF32});
  }

  // s8 of what was clamped to -128 to 127 before: sums of s32, or f32 with an epilogue.
  bool TakeBytes(Instruction* at) {
    Instruction* clamp = at->operand(0);
    if (at->shape().element_type() != ElementType::kS8 || clamp->opcode() != Opcode::kClamp ||
        !IsReadOnce(clamp))
      return false;
    std::optional<MadeByCall> made = ByteConv(clamp->operand(1), ElementType::kS32);
    if (!made.has_value()) made = ByteConv(clamp->operand(1), ElementType::kF32);
    if (!made.has_value() || !Holds("conv-clamp-bytes/low", at, IsSplat(clamp->operand(0), -128)) ||
        !Holds("conv-clamp-bytes/high", at, IsSplat(clamp->operand(2), 127)))
      return false;
    Change change{.config = made->read.conv, .type = ElementType::kS8};
    if (made->read.addend >= 0) {
      // The side input is of bytes, too.
      Instruction* side = made->call->operand(made->read.addend);
      if (side->opcode() != Opcode::kConvert) return false;
      change.side = side->operand(0);
    }
    return Make("conv-clamp-bytes", at, *made, change);
  }

  PassContext& context_;
};

// Bytes touched may grow by this factor at most, as in XLA.
constexpr double kMostPaddingGrowth = 1.35;

int64_t FilledUp(int64_t size, int64_t multiple) {
  return (size + multiple - 1) / multiple * multiple;
}

// One array with more features.
struct FeatureSizes {
  int64_t dim = -1, size = 0;
};

class ConvPadding {
 public:
  ConvPadding(const MadeByCall& made, int64_t multiple)
      : made_(made), labels_(*made.call->attributes().DimLabels()) {
    const auto [x, w, y] = ConvShapesOf(made.read.routine, *made.call, *made.read.result);
    input_ = FilledUp(x->dimension(labels_.input_feature), multiple);
    output_ = FilledUp(y->dimension(labels_.output_feature), multiple);
    any_ = input_ != x->dimension(labels_.input_feature) ||
           output_ != y->dimension(labels_.output_feature);
    double before = 0, after = 0;
    for (const Shape* shape : {x, w, y}) {
      before += static_cast<double>(shape->ElementCount());
      const Int64List sizes = shape == x   ? InputSizes(*x)
                              : shape == w ? FilterSizes(*w)
                                           : OutputSizes(*y);
      double elements = 1;
      for (int64_t size : sizes) elements *= static_cast<double>(size);
      after += elements;
    }
    pays_ = after <= kMostPaddingGrowth * before;
  }

  bool IsWanted() const { return any_ && pays_; }

  // The call on larger arrays; its result, cut, in the place of the call's.
  Instruction* Write() {
    const LibraryRoutine routine = made_.read.routine;
    Computation* into = made_.call->parent();
    const OpWriter ops(into);
    CallPlan plan = PlanOf(made_);
    const bool by_input = routine == kConvBackwardInput, by_filter = routine == kConvBackwardFilter;
    const auto pad = [&](int64_t k, const Int64List& sizes) {
      Int64List high;
      const Shape& shape = plan.operands[k]->shape();
      for (int64_t d = 0; d < shape.rank(); ++d) high.push_back(sizes[d] - shape.dimension(d));
      if (sizes != Int64List(shape.dimensions().begin(), shape.dimensions().end()))
        plan.operands[k] = ops.PadWithZeros(plan.operands[k], Int64List(high.size(), 0), high);
    };
    const Shape &first = plan.operands[0]->shape(), &second = plan.operands[1]->shape();
    const Shape& result = *made_.read.result;
    const Int64List sizes = by_input    ? InputSizes(result)
                            : by_filter ? FilterSizes(result)
                                        : OutputSizes(result);
    pad(0, by_input ? OutputSizes(first) : InputSizes(first));
    pad(1, by_filter ? OutputSizes(second) : FilterSizes(second));
    if (made_.read.bias >= 0) pad(made_.read.bias, {output_});
    if (made_.read.addend >= 0) pad(made_.read.addend, sizes);
    const Shape whole = Shape::Array(result.element_type(), sizes);
    std::vector<Shape> shapes = {whole};
    if (plan.shape.IsTuple()) {
      shapes.assign(plan.shape.elements().begin(), plan.shape.elements().end());
      shapes[0] = whole;
      plan.shape = Shape::Tuple(shapes);
    } else {
      plan.shape = whole;
    }
    const DimVector given(result.dimensions().begin(), result.dimensions().end());
    Instruction* call = plan.AddTo(into);
    const auto cut = [&](Instruction* array) {
      return sizes == Int64List(given.begin(), given.end()) ? array : ops.FirstPart(array, given);
    };
    if (!plan.shape.IsTuple()) return cut(call);
    std::vector<Instruction*> elements = {cut(ops.Element(call, 0))};
    for (size_t k = 1; k < shapes.size(); ++k)
      elements.push_back(ops.Element(call, static_cast<int64_t>(k)));
    return ops.Tuple(elements);
  }

 private:
  static Int64List With(const Shape& shape, std::initializer_list<FeatureSizes> features) {
    Int64List sizes(shape.dimensions().begin(), shape.dimensions().end());
    for (const FeatureSizes& each : features) sizes[each.dim] = each.size;
    return sizes;
  }
  Int64List InputSizes(const Shape& given) const {
    return With(given, {{labels_.input_feature, input_}});
  }
  Int64List OutputSizes(const Shape& given) const {
    return With(given, {{labels_.output_feature, output_}});
  }
  Int64List FilterSizes(const Shape& given) const {
    return With(given,
                {{labels_.kernel_input_feature, input_}, {labels_.kernel_output_feature, output_}});
  }

  const MadeByCall& made_;
  const ConvDimLabels& labels_;
  int64_t input_ = 0, output_ = 0;
  bool any_ = false, pays_ = false;
};

}  // namespace

absl::StatusOr<bool> CudnnFusedConvRewriter::Run(Module& module, PassContext& context) {
  FusedConvRules rules(context);
  bool changed = false;
  for (Computation* computation : UnitComputations(module))
    for (Instruction* inst : computation->InPostOrder()) changed |= rules.Apply(inst);
  return changed;
}

absl::StatusOr<bool> CudnnPadForConvolutions::Run(Module& module, PassContext& context) {
  const GpuFacts& facts = FactsOf(context);
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    for (Instruction* call : computation->InPostOrder()) {
      if (!IsLibraryCall(*call)) continue;
      absl::StatusOr<LibraryCall> read = ReadLibraryCall(*call);
      if (!read.ok() || !IsConvolution(read->routine) || read->result->ElementCount() == 0)
        continue;
      const ElementType type = call->operand(0)->shape().element_type();
      const int64_t multiple =
          type == ElementType::kS8 ? facts.byte_features : facts.MultipleOf(type);
      if (multiple == 0 || call->attributes().Integer(Attr::kFeatureGroupCount, 1) != 1) continue;
      const MadeByCall made{call, *std::move(read)};
      ConvPadding padding(made, context.gates.Number("pad-conv/multiple", call, multiple));
      if (!padding.IsWanted()) continue;
      Rewrite rewrite(context.gates, "pad-conv", call);
      if (rewrite) changed |= rewrite.Replace(padding.Write());
    }
  }
  return changed;
}

}  // namespace assay
