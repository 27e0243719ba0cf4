// Recognises the convolutions that the fast path takes: those whose dimension numbers are
// canonical, that is
//   input   batch, spatial dimensions in order, feature       (b01f)
//   kernel  spatial dimensions in order, input feature, output feature   (01io)
//   output  batch, spatial dimensions in order, feature       (b01f)
// so that features, along which vectors run, are next to each other in all three. Windows and group
// counts do not matter. Document: optimization passes, Convolution canonicalization.
#pragma once

#include "spec/attributes/attributes.h"

namespace assay {

ConvDimLabels CanonicalDimLabels(int64_t spatial_dims);
bool IsCanonicalConvolution(const ConvDimLabels& labels);

}  // namespace assay
