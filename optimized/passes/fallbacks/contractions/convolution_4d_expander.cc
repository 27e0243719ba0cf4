// Reshapes around a convolution of fewer dimensions.
#include "optimized/passes/fallbacks/contractions/convolution_4d_expander.h"

#include <algorithm>
#include <vector>

#include "optimized/passes/util/rule_util.h"

namespace assay {
namespace {

constexpr size_t kMostSpatialDims = 2;  // of convolutions that every backend has code for

bool IsTrivial(const Instruction& convolution, size_t spatial) {
  const ConvDimLabels& labels = *convolution.attributes().DimLabels();
  const WindowDim& window = convolution.attributes().Window(Attr::kWindow)[spatial];
  return convolution.operand(0)->shape().dimension(labels.input_spatial[spatial]) == 1 &&
         convolution.operand(1)->shape().dimension(labels.kernel_spatial[spatial]) == 1 &&
         convolution.shape().dimension(labels.output_spatial[spatial]) == 1 && window.low == 0 &&
         window.high == 0;
}

bool IsRowMajor(const Instruction& inst) {
  return inst.shape().layout().IsRowMajor() && inst.shape().layout().extras() == nullptr;
}

Shape Without(const Shape& shape, const Int64List& dropped) {
  DimVector sizes;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (std::find(dropped.begin(), dropped.end(), d) == dropped.end())
      sizes.push_back(shape.dimension(d));
  }
  return Shape::Array(shape.element_type(), sizes);
}

// The place of dimension d once the dimensions in `dropped` are gone.
int64_t Place(int64_t d, const Int64List& dropped) {
  return d - std::count_if(dropped.begin(), dropped.end(), [d](int64_t gone) { return gone < d; });
}

}  // namespace

bool Convolution4dExpander::Matches(const Instruction& inst) const {
  const size_t spatial = inst.attributes().DimLabels()->input_spatial.size();
  if (spatial <= kMostSpatialDims || inst.attributes().Window(Attr::kWindow).size() != spatial ||
      !IsRowMajor(inst))
    return false;
  for (size_t s = 0; s < spatial; ++s) {
    if (IsTrivial(inst, s)) return true;
  }
  return false;
}

Instruction* Convolution4dExpander::Expand(Instruction* inst) const {
  Computation* into = inst->parent();
  const ConvDimLabels& old = *inst->attributes().DimLabels();
  std::vector<size_t> kept;
  Int64List input, kernel, output;  // dimensions that go
  for (size_t s = 0; s < old.input_spatial.size(); ++s) {
    if (!IsTrivial(*inst, s)) {
      kept.push_back(s);
      continue;
    }
    input.push_back(old.input_spatial[s]);
    kernel.push_back(old.kernel_spatial[s]);
    output.push_back(old.output_spatial[s]);
  }
  ConvDimLabels labels;
  labels.input_batch = Place(old.input_batch, input);
  labels.input_feature = Place(old.input_feature, input);
  labels.kernel_input_feature = Place(old.kernel_input_feature, kernel);
  labels.kernel_output_feature = Place(old.kernel_output_feature, kernel);
  labels.output_batch = Place(old.output_batch, output);
  labels.output_feature = Place(old.output_feature, output);
  std::vector<WindowDim> window;
  for (size_t s : kept) {
    window.push_back(inst->attributes().Window(Attr::kWindow)[s]);
    labels.input_spatial.push_back(Place(old.input_spatial[s], input));
    labels.kernel_spatial.push_back(Place(old.kernel_spatial[s], kernel));
    labels.output_spatial.push_back(Place(old.output_spatial[s], output));
  }
  Attributes attributes = inst->attributes();
  attributes.Set(Attr::kDimLabels, AttrValue(labels));
  if (window.empty()) {
    attributes.Remove(Attr::kWindow);
  } else {
    attributes.Set(Attr::kWindow, AttrValue(std::move(window)));
  }
  Instruction* x = inst->operand(0);
  Instruction* y = inst->operand(1);
  x = into->Add(Opcode::kReshape, Without(x->shape(), input), {x});
  y = into->Add(Opcode::kReshape, Without(y->shape(), kernel), {y});
  Instruction* smaller =
      into->Add(Opcode::kConvolution, Without(inst->shape(), output), {x, y}, attributes);
  return into->Add(Opcode::kReshape, inst->shape(), {smaller});
}

}  // namespace assay
