// All follow from one equation: input place = output place * stride + kernel place * dilation -
// low.
#include "optimized/passes/library/gradient_forms.h"

#include <algorithm>
#include <utility>

#include "optimized/passes/library/op_writer.h"

namespace assay {
namespace {

// Places that `size` steps reach over.
int64_t Span(int64_t size, int64_t step) { return size == 0 ? 0 : (size - 1) * step + 1; }

// The high padding with which `input` places give `output` ones: any of `stride` values serves, the
// low padding if it is among them.
int64_t HighPadding(const WindowDim& of, int64_t input, int64_t output) {
  const int64_t least =
      (output - 1) * of.stride + Span(of.size, of.window_dilation) - input - of.low;
  return of.low >= least && of.low < least + of.stride ? of.low : least;
}

bool HasPlainBase(const ConvForm& form) {
  return std::all_of(form.window.begin(), form.window.end(),
                     [](const WindowDim& dim) { return dim.base_dilation == 1 && !dim.reversal; });
}

// The gradient of an input is a convolution that makes what the other one reads, and back.
void SwapInputAndOutput(ConvDimLabels& labels) {
  std::swap(labels.input_batch, labels.output_batch);
  std::swap(labels.input_feature, labels.output_feature);
  std::swap(labels.input_spatial, labels.output_spatial);
  std::swap(labels.kernel_input_feature, labels.kernel_output_feature);
}

// The gradient of a filter is a convolution of the input with the gradient of the output, and back:
// batches are what is summed.
ConvDimLabels WithFilterAsResult(const ConvDimLabels& from) {
  return {.input_batch = from.input_feature,
          .input_feature = from.input_batch,
          .kernel_input_feature = from.output_batch,
          .kernel_output_feature = from.output_feature,
          .output_batch = from.kernel_input_feature,
          .output_feature = from.kernel_output_feature,
          .input_spatial = from.input_spatial,
          .kernel_spatial = from.output_spatial,
          .output_spatial = from.kernel_spatial};
}

}  // namespace

ConvForm ConvForm::Of(const Attributes& attributes) {
  const absl::Span<const WindowDim> window = attributes.Window(Attr::kWindow);
  return {.window = std::vector<WindowDim>(window.begin(), window.end()),
          .labels = *attributes.DimLabels(),
          .feature_groups = attributes.Integer(Attr::kFeatureGroupCount, 1),
          .batch_groups = attributes.Integer(Attr::kBatchGroupCount, 1)};
}

Attributes ConvForm::ToAttributes() const {
  Attributes attributes;
  if (!window.empty()) attributes.Set(Attr::kWindow, AttrValue(window));
  attributes.Set(Attr::kDimLabels, AttrValue(SharedValue<ConvDimLabels>(labels)));
  if (feature_groups != 1) attributes.Set(Attr::kFeatureGroupCount, AttrValue(feature_groups));
  if (batch_groups != 1) attributes.Set(Attr::kBatchGroupCount, AttrValue(batch_groups));
  return attributes;
}

ConvForm InputGradient(const ConvForm& forward, const SpatialSizes& sizes) {
  ConvForm plain = forward;
  for (size_t d = 0; d < forward.window.size(); ++d) {
    const WindowDim& of = forward.window[d];
    const int64_t reach = Span(of.size, of.window_dilation) - 1;
    WindowDim& dim = plain.window[d];
    dim = {.size = of.size,
           .low = reach - of.low,
           .base_dilation = of.stride,
           .window_dilation = of.window_dilation,
           .reversal = true};
    dim.high = sizes.input[d] + reach - Span(sizes.output[d], of.stride) - dim.low;
  }
  SwapInputAndOutput(plain.labels);
  return plain;
}

ConvForm FilterGradient(const ConvForm& forward, const SpatialSizes& sizes) {
  ConvForm plain;
  for (size_t d = 0; d < forward.window.size(); ++d) {
    const WindowDim& of = forward.window[d];
    WindowDim dim{.size = sizes.output[d],
                  .stride = of.window_dilation,
                  .low = of.low,
                  .window_dilation = of.stride};
    dim.high = Span(of.size, of.window_dilation) - 1 + Span(sizes.output[d], of.stride) -
               sizes.input[d] - of.low;
    plain.window.push_back(dim);
  }
  plain.labels = WithFilterAsResult(forward.labels);
  plain.batch_groups = forward.feature_groups;
  return plain;
}

std::optional<ConvForm> ForwardOfInputGradient(const ConvForm& plain, const Shape& lhs,
                                               const Shape& result) {
  if (plain.batch_groups != 1 || plain.window.empty()) return std::nullopt;
  ConvForm forward = plain;
  for (size_t d = 0; d < plain.window.size(); ++d) {
    const WindowDim& dim = plain.window[d];
    if (dim.stride != 1 || (!dim.reversal && dim.size > 1)) return std::nullopt;
    WindowDim& of = forward.window[d];
    of = {.size = dim.size,
          .stride = dim.base_dilation,
          .low = Span(dim.size, dim.window_dilation) - 1 - dim.low,
          .window_dilation = dim.window_dilation};
    if (of.low < 0) return std::nullopt;
    of.high = HighPadding(of, result.dimension(plain.labels.output_spatial[d]),
                          lhs.dimension(plain.labels.input_spatial[d]));
  }
  SwapInputAndOutput(forward.labels);
  return forward;
}

std::optional<ConvForm> ForwardOfFilterGradient(const ConvForm& plain, const Shape& lhs,
                                                const Shape& rhs, const Shape& result) {
  if (plain.feature_groups != 1 || plain.window.empty() || !HasPlainBase(plain))
    return std::nullopt;
  const ConvDimLabels& from = plain.labels;
  ConvForm forward;
  forward.labels = WithFilterAsResult(from);
  forward.feature_groups = plain.batch_groups;
  for (size_t d = 0; d < plain.window.size(); ++d) {
    const WindowDim& dim = plain.window[d];
    WindowDim of{.size = result.dimension(from.output_spatial[d]),
                 .stride = dim.window_dilation,
                 .low = dim.low,
                 .window_dilation = dim.stride};
    if (of.low < 0) return std::nullopt;
    of.high = HighPadding(of, lhs.dimension(from.input_spatial[d]),
                          rhs.dimension(from.kernel_spatial[d]));
    forward.window.push_back(of);
  }
  return forward;
}

Instruction* SwapFeatures(Instruction* filter, int64_t split, int64_t joined, int64_t groups) {
  if (groups == 1) return filter;
  const OpWriter ops(filter->parent());
  const Shape& shape = filter->shape();
  DimVector apart, together;
  Int64List order;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const int64_t size = shape.dimension(d);
    if (d == split) apart.push_back(groups);
    apart.push_back(d == split ? size / groups : size);
    if (d == joined) order.push_back(split);
    order.push_back(d >= split ? d + 1 : d);
    together.push_back(d == split ? size / groups : d == joined ? size * groups : size);
  }
  return ops.Reshape(ops.Transpose(ops.Reshape(filter, apart), order), together);
}

}  // namespace assay
