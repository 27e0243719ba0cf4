// Which of the three a convolution is, and its call.
#include "optimized/passes/library/conv_rewriter.h"

#include <algorithm>
#include <utility>

#include "optimized/passes/library/call_match.h"
#include "optimized/passes/library/gradient_forms.h"
#include "optimized/passes/library/op_writer.h"
#include "optimized/passes/util/module_util.h"

namespace assay {
namespace {

using enum LibraryRoutine;

bool HasUsualPrecision(const Instruction& conv) {
  const absl::Span<const int64_t> precisions = conv.attributes().Integers(Attr::kOperandPrecision);
  return std::all_of(precisions.begin(), precisions.end(), [](int64_t p) { return p == 0; }) &&
         conv.attributes().Integer(Attr::kAlgorithm) == 0;
}

// The bytes that the operand of an integer convolution is converted from; else the operand.
Instruction* BehindConvert(Instruction* operand) {
  const bool widens = operand->opcode() == Opcode::kConvert &&
                      operand->shape().element_type() == ElementType::kS32 &&
                      operand->operand(0)->shape().element_type() == ElementType::kS8;
  return widens ? operand->operand(0) : operand;
}

struct ConvCall {
  std::string_view rule;
  CallPlan plan;
};

class ConvMatcher {
 public:
  ConvMatcher(Instruction* conv, PassContext& context)
      : conv_(conv), context_(context), form_(ConvForm::Of(conv->attributes())) {}

  std::optional<ConvCall> Match() {
    std::optional<ConvCall> found = InputGradient();
    if (!found.has_value()) found = FilterGradient();
    if (!found.has_value()) found = Forward();
    return found;
  }

 private:
  bool Holds(std::string_view claim, bool holds) {
    return context_.gates.Holds(claim, conv_, holds);
  }

  std::optional<ConvCall> Take(std::string_view rule, LibraryRoutine routine, const ConvForm& form,
                               Instruction* lhs, Instruction* rhs) {
    ConvCall call{rule,
                  {.routine = routine,
                   .shape = Shape::Tuple({WithType(conv_->shape(), conv_->shape().element_type()),
                                          Shape::Array(ElementType::kU8, {0})}),
                   .operands = {lhs, rhs},
                   .attributes = form.ToAttributes(),
                   .config = WriteConfig(ConvConfig())}};
    // HLO's sums of bytes are bytes and wrap, cuDNN's saturate.
    const bool wraps = conv_->shape().element_type() == ElementType::kS8;
    return !wraps && call.plan.IsSound() ? std::optional(std::move(call)) : std::nullopt;
  }

  std::optional<ConvCall> Forward() {
    Instruction *lhs = BehindConvert(conv_->operand(0)), *rhs = BehindConvert(conv_->operand(1));
    return Take("conv-to-library", kConvForward, form_, lhs, rhs);
  }

  std::optional<ConvCall> InputGradient() {
    const bool is_spread =
        std::any_of(form_.window.begin(), form_.window.end(), [](const WindowDim& dim) {
          return dim.base_dilation > 1 || (dim.reversal && dim.size > 1);
        });
    if (!is_spread) return std::nullopt;
    const bool is_turned =
        std::all_of(form_.window.begin(), form_.window.end(),
                    [](const WindowDim& dim) { return dim.reversal || dim.size == 1; });
    if (!Holds("conv-input-gradient/reversed", is_turned)) return std::nullopt;
    ConvForm turned = form_;
    for (WindowDim& dim : turned.window) dim.reversal = true;
    const std::optional<ConvForm> forward =
        ForwardOfInputGradient(turned, conv_->operand(0)->shape(), conv_->shape());
    // Groups need a filter of another form, which the rule adds.
    if (!forward.has_value() || form_.feature_groups != 1) return std::nullopt;
    return Take("conv-input-gradient", kConvBackwardInput, *forward, conv_->operand(0),
                conv_->operand(1));
  }

  std::optional<ConvCall> FilterGradient() {
    bool is_large = false;
    for (size_t d = 0; d < form_.window.size(); ++d) {
      const int64_t result = conv_->shape().dimension(form_.labels.output_spatial[d]);
      is_large = is_large || form_.window[d].size > result;
    }
    if (form_.batch_groups == 1 && !is_large) return std::nullopt;
    const std::optional<ConvForm> forward = ForwardOfFilterGradient(
        form_, conv_->operand(0)->shape(), conv_->operand(1)->shape(), conv_->shape());
    if (!forward.has_value()) return std::nullopt;
    return Take("conv-filter-gradient", kConvBackwardFilter, *forward, conv_->operand(0),
                conv_->operand(1));
  }

  Instruction* conv_;
  PassContext& context_;
  ConvForm form_;
};

bool IsEmpty(const Instruction& conv) {
  return conv.shape().ElementCount() == 0 || conv.operand(0)->shape().ElementCount() == 0 ||
         conv.operand(1)->shape().ElementCount() == 0;
}

// The part of a call's padding that both ends of a dimension have, and what each has beside it.
struct UnevenPadding {
  std::vector<WindowDim> window;
  Int64List low, high;  // of the input's dimensions
  bool any = false;

  UnevenPadding(const ConvForm& form, int64_t rank) : window(form.window), low(rank), high(rank) {
    for (size_t d = 0; d < window.size(); ++d) {
      const int64_t both = std::max<int64_t>(0, std::min(window[d].low, window[d].high));
      const int64_t dim = form.labels.input_spatial[d];
      low[dim] = window[d].low - both;
      high[dim] = window[d].high - both;
      any = any || low[dim] != 0 || high[dim] != 0;
      window[d].low = window[d].high = both;
    }
  }
};

// The call by even padding; its result in the place of `call`'s.
Instruction* WithEvenPadding(const MadeByCall& made, const UnevenPadding& uneven) {
  const OpWriter ops(made.call->parent());
  CallPlan plan = PlanOf(made);
  plan.attributes.Set(Attr::kWindow, AttrValue(uneven.window));
  if (made.read.routine != kConvBackwardInput) {
    plan.operands[0] = ops.PadWithZeros(plan.operands[0], uneven.low, uneven.high);
    return plan.AddTo(made.call->parent());
  }
  Int64List low, high;
  DimVector sizes;
  for (int64_t d = 0; d < made.read.result->rank(); ++d) {
    sizes.push_back(made.read.result->dimension(d) + uneven.low[d] + uneven.high[d]);
    low.push_back(-uneven.low[d]);
    high.push_back(-uneven.high[d]);
  }
  const Shape whole = Shape::Array(made.read.result->element_type(), sizes);
  if (!plan.shape.IsTuple()) {
    plan.shape = whole;
    return ops.PadWithZeros(plan.AddTo(made.call->parent()), low, high);
  }
  std::vector<Shape> shapes(plan.shape.elements().begin(), plan.shape.elements().end());
  shapes[0] = whole;
  plan.shape = Shape::Tuple(shapes);
  Instruction* call = plan.AddTo(made.call->parent());
  std::vector<Instruction*> elements = {ops.PadWithZeros(ops.Element(call, 0), low, high)};
  for (size_t k = 1; k < shapes.size(); ++k)
    elements.push_back(ops.Element(call, static_cast<int64_t>(k)));
  return ops.Tuple(elements);
}

}  // namespace

absl::StatusOr<bool> GpuConvRewriter::Run(Module& module, PassContext& context) {
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    for (Instruction* conv : computation->InPostOrder()) {
      if (conv->opcode() != Opcode::kConvolution || !IsPlain(*conv) || IsEmpty(*conv) ||
          conv->attributes().DimLabels() == nullptr || conv->operand_count() != 2 ||
          !HasUsualPrecision(*conv))
        continue;
      const std::optional<ConvCall> found = ConvMatcher(conv, context).Match();
      if (!found.has_value()) continue;
      Rewrite rewrite(context.gates, found->rule, conv);
      if (!rewrite) continue;
      Instruction* call = found->plan.AddTo(computation);
      changed |= rewrite.Replace(OpWriter(computation).Element(call, 0));
    }
  }
  return changed;
}

absl::StatusOr<bool> GpuConvPaddingLegalization::Run(Module& module, PassContext& context) {
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    for (Instruction* call : computation->InPostOrder()) {
      if (!IsLibraryCall(*call)) continue;
      absl::StatusOr<LibraryCall> read = ReadLibraryCall(*call);
      if (!read.ok() || !IsConvolution(read->routine)) continue;
      const ConvForm form = ConvForm::Of(call->attributes());
      const UnevenPadding uneven(form, call->operand(0)->shape().rank());
      if (!uneven.any) continue;
      Rewrite rewrite(context.gates, "legalize-conv-padding", call);
      if (!rewrite) continue;
      changed |= rewrite.Replace(WithEvenPadding({call, *std::move(read)}, uneven));
    }
  }
  return changed;
}

}  // namespace assay
