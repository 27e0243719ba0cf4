// Reads dimension numbers and windows into axes with steps.
#include "optimized/cpu/kernels/contraction_plan.h"

#include "absl/algorithm/container.h"
#include "optimized/analysis/walks/contractions.h"

namespace assay {
namespace {

// Appends an axis; false when there are too many.
bool Add(ContractionAxis axis, ContractionAxis* axes, int64_t& count) {
  if (count == ContractionPlan::kMaxAxes) return false;
  axes[count++] = axis;
  return true;
}

bool AddAll(const std::vector<CommonAxis>& from, ContractionAxis* axes, int64_t& count) {
  return absl::c_all_of(from, [&](const CommonAxis& axis) {
    return Add({axis.size, axis.steps[0], axis.steps[1], axis.steps[2]}, axes, count);
  });
}

bool PlanDot(const ContractionView& view, ContractionPlan& plan) {
  const std::optional<ContractionAxes> axes = AxesOf(view);
  if (!axes.has_value()) return false;
  plan.lhs_start = view.lhs.start;
  plan.rhs_start = view.rhs.start;
  return AddAll(axes->batch, plan.batch, plan.batch_count) &&
         AddAll(axes->m, plan.m, plan.m_count) && AddAll(axes->n, plan.n, plan.n_count) &&
         AddAll(axes->sum, plan.sum, plan.sum_count);
}

bool PlanConvolution(const Instruction& conv, ContractionPlan& plan) {
  const Attributes& a = conv.attributes();
  const ConvDimLabels& labels = *a.DimLabels();
  const absl::Span<const WindowDim> window = a.Window(Attr::kWindow);
  const Shape &input = conv.operand(0)->shape(), &kernel = conv.operand(1)->shape();
  const DimVector in = RowMajorStrides(input.dimensions());
  const DimVector taps = RowMajorStrides(kernel.dimensions());
  const DimVector out = RowMajorStrides(conv.shape().dimensions());
  const int64_t feature_groups = a.Integer(Attr::kFeatureGroupCount, 1);
  const int64_t batch_groups = a.Integer(Attr::kBatchGroupCount, 1);
  if (static_cast<int64_t>(window.size()) > ContractionPlan::kMaxWindows) return false;
  const int64_t groups = feature_groups * batch_groups;
  const int64_t group_outputs = conv.shape().dimension(labels.output_feature) / groups;
  const int64_t group_inputs = kernel.dimension(labels.kernel_input_feature);
  const int64_t batch = conv.shape().dimension(labels.output_batch);
  bool fits = true;
  if (groups > 1) {
    const int64_t lhs_step = feature_groups > 1 ? group_inputs * in[labels.input_feature]
                                                : batch * in[labels.input_batch];
    fits = Add({groups, lhs_step, group_outputs * taps[labels.kernel_output_feature],
                group_outputs * out[labels.output_feature]},
               plan.batch, plan.batch_count);
  }
  fits = fits &&
         Add({batch, in[labels.input_batch], 0, out[labels.output_batch]}, plan.m, plan.m_count);
  for (size_t d = 0; d < window.size(); ++d) {
    const WindowDim& w = window[d];
    ContractionWindow& place = plan.windows[plan.window_count++];
    place.out_axis = plan.m_count;
    place.tap_axis = plan.sum_count;
    place.stride = w.stride;
    place.dilation = w.window_dilation;
    place.base_dilation = w.base_dilation;
    place.low = w.low;
    place.size = input.dimension(labels.input_spatial[d]);
    place.step = in[labels.input_spatial[d]];
    int64_t step = taps[labels.kernel_spatial[d]];
    if (w.reversal) {
      plan.rhs_start += (w.size - 1) * step;
      step = -step;
    }
    fits = fits && Add({conv.shape().dimension(labels.output_spatial[d]), 0, 0,
                        out[labels.output_spatial[d]]},
                       plan.m, plan.m_count);
    fits = fits && Add({w.size, 0, step, 0}, plan.sum, plan.sum_count);
  }
  fits = fits && Add({group_inputs, in[labels.input_feature], taps[labels.kernel_input_feature], 0},
                     plan.sum, plan.sum_count);
  return fits &&
         Add({group_outputs, 0, taps[labels.kernel_output_feature], out[labels.output_feature]},
             plan.n, plan.n_count);
}

}  // namespace

std::optional<ContractionPlan> PlanContraction(const Instruction& kernel, KernelIsa isa,
                                               const NumberBend& bend) {
  const bool is_convolution = kernel.opcode() == Opcode::kConvolution;
  std::optional<ContractionView> view;
  if (!is_convolution) {
    view = ViewContraction(kernel, bend);
    if (!view.has_value()) return std::nullopt;
  }
  const Instruction& instruction = is_convolution ? kernel : *view->dot;
  const auto type_of = [&](int64_t k) { return instruction.operand(k)->shape().element_type(); };
  ContractionPlan plan;
  plan.isa = static_cast<int64_t>(isa);
  plan.lhs_type = static_cast<int64_t>(is_convolution ? type_of(0) : view->lhs.type);
  plan.rhs_type = static_cast<int64_t>(is_convolution ? type_of(1) : view->rhs.type);
  plan.sum_type = static_cast<int64_t>(DotAccumulator(instruction));
  plan.out_type =
      static_cast<int64_t>(is_convolution ? instruction.shape().element_type() : view->out.type);
  if (IsComplex(instruction.shape().element_type())) {
    const ElementType type = instruction.shape().element_type();
    if (type_of(0) != type || type_of(1) != type) return std::nullopt;
    plan.is_complex = 1;
    plan.lhs_type = plan.rhs_type = plan.sum_type = plan.out_type =
        static_cast<int64_t>(ComponentType(type));
  }
  if (!CanContract(plan.lhs_type, plan.rhs_type, plan.sum_type, plan.out_type)) {
    return std::nullopt;
  }
  if (!(is_convolution ? PlanConvolution(instruction, plan) : PlanDot(*view, plan))) {
    return std::nullopt;
  }
  if (plan.is_complex != 0 && plan.sum_count == ContractionPlan::kMaxAxes) return std::nullopt;
  return plan;
}

double ProductsOf(const ContractionPlan& plan) {
  double products = 1;
  for (int64_t a = 0; a < plan.batch_count; ++a)
    products *= static_cast<double>(plan.batch[a].size);
  for (int64_t a = 0; a < plan.m_count; ++a) products *= static_cast<double>(plan.m[a].size);
  for (int64_t a = 0; a < plan.n_count; ++a) products *= static_cast<double>(plan.n[a].size);
  for (int64_t a = 0; a < plan.sum_count; ++a) products *= static_cast<double>(plan.sum[a].size);
  return products;
}

}  // namespace assay
