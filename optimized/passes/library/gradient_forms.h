// Gradients of convolutions are convolutions: the window, labels and groups of the one from those
// of the other, both ways. Library calls name the forward convolution; HLO has the plain op.
#pragma once

#include <optional>
#include <vector>

#include "spec/ir/module.h"

namespace assay {

// Window, labels and groups of a convolution, whichever of the two it is.
struct ConvForm {
  std::vector<WindowDim> window;
  ConvDimLabels labels;
  int64_t feature_groups = 1, batch_groups = 1;

  static ConvForm Of(const Attributes& attributes);
  // Attributes leave groups of one out.
  Attributes ToAttributes() const;
};

// Sizes along the spatial dimensions of the forward convolution.
struct SpatialSizes {
  Int64List input, output;
};

// The plain convolution of (gradient, filter with SwapFeatures) that is the gradient of the input
// of `forward`, and that of (input, gradient) that is the gradient of its filter.
ConvForm InputGradient(const ConvForm& forward, const SpatialSizes& sizes);
ConvForm FilterGradient(const ConvForm& forward, const SpatialSizes& sizes);

// The forward convolution of which a plain one is the gradient; nothing where it is none. Its high
// padding is the low one wherever that is possible.
std::optional<ConvForm> ForwardOfInputGradient(const ConvForm& plain, const Shape& lhs,
                                               const Shape& result);
std::optional<ConvForm> ForwardOfFilterGradient(const ConvForm& plain, const Shape& lhs,
                                                const Shape& rhs, const Shape& result);

// Exchanges the parts that the two feature dimensions of a filter play, group by group: what stands
// at `split` comes in `groups` parts, which move to the dimension `joined`. A filter that is not
// grouped stays as it is.
Instruction* SwapFeatures(Instruction* filter, int64_t split, int64_t joined, int64_t groups);

}  // namespace assay
