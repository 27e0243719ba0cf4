// Slices, convolves and concatenates.
#include "optimized/passes/fallbacks/contractions/convolution_group_converter.h"

#include <utility>
#include <vector>

#include "optimized/passes/util/rule_util.h"

namespace assay {
namespace {

// A program with a convolution for each of hundreds of groups would be larger than it is worth.
constexpr int64_t kMostGroups = 64;

// Part `k` of `count` equal parts along `dimension`.
Instruction* Part(Instruction* inst, int64_t dimension, int64_t k, int64_t count) {
  Shape shape = Shape::Array(inst->shape().element_type(), inst->shape().dimensions());
  const int64_t size = shape.dimension(dimension) / count;
  std::vector<SliceRange> ranges;
  for (int64_t d = 0; d < shape.rank(); ++d) ranges.push_back({0, shape.dimension(d), 1});
  ranges[static_cast<size_t>(dimension)] = {k * size, (k + 1) * size, 1};
  shape.set_dimension(dimension, size);
  return inst->parent()->Add(Opcode::kSlice, shape, {inst}, SliceAttr(std::move(ranges)));
}

// Groups of features, or of the batch; a convolution has one kind at most.
struct Groups {
  int64_t count;
  Attr attribute;
  int64_t input_dimension;  // that they cut
};
Groups GroupsOf(const Instruction& convolution) {
  const ConvDimLabels& labels = *convolution.attributes().DimLabels();
  const int64_t of_batch = convolution.attributes().Integer(Attr::kBatchGroupCount, 1);
  if (of_batch > 1) return {of_batch, Attr::kBatchGroupCount, labels.input_batch};
  return {convolution.attributes().Integer(Attr::kFeatureGroupCount, 1), Attr::kFeatureGroupCount,
          labels.input_feature};
}

}  // namespace

bool ConvolutionGroupConverter::Matches(const Instruction& inst) const {
  const int64_t groups = GroupsOf(inst).count;
  return groups > 1 && groups <= kMostGroups;
}

Instruction* ConvolutionGroupConverter::Expand(Instruction* convolution) const {
  const ConvDimLabels& labels = *convolution->attributes().DimLabels();
  const auto [groups, attribute, input_dimension] = GroupsOf(*convolution);
  Attributes attributes = convolution->attributes();
  attributes.Remove(attribute);
  Shape part = Shape::Array(convolution->shape().element_type(), convolution->shape().dimensions());
  part.set_dimension(labels.output_feature, part.dimension(labels.output_feature) / groups);
  std::vector<Instruction*> parts;
  for (int64_t k = 0; k < groups; ++k) {
    Instruction* input = Part(convolution->operand(0), input_dimension, k, groups);
    Instruction* kernel = Part(convolution->operand(1), labels.kernel_output_feature, k, groups);
    parts.push_back(
        convolution->parent()->Add(Opcode::kConvolution, part, {input, kernel}, attributes));
  }
  return convolution->parent()->Add(Opcode::kConcatenate, convolution->shape(), parts,
                                    Attributes().Set(Attr::kDimension, {labels.output_feature}));
}

}  // namespace assay
