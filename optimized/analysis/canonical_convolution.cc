// Compares the dimension labels of a convolution with those of the fast path.
#include "optimized/analysis/canonical_convolution.h"

namespace assay {

ConvDimLabels CanonicalDimLabels(int64_t spatial_dims) {
  ConvDimLabels labels;
  labels.input_batch = labels.output_batch = 0;
  labels.input_feature = labels.output_feature = spatial_dims + 1;
  labels.kernel_input_feature = spatial_dims;
  labels.kernel_output_feature = spatial_dims + 1;
  for (int64_t d = 0; d < spatial_dims; ++d) {
    labels.input_spatial.push_back(d + 1);
    labels.kernel_spatial.push_back(d);
    labels.output_spatial.push_back(d + 1);
  }
  return labels;
}

bool IsCanonicalConvolution(const ConvDimLabels& labels) {
  return labels == CanonicalDimLabels(static_cast<int64_t>(labels.input_spatial.size()));
}

}  // namespace assay
