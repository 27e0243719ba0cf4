// Slices, convolves and concatenates.
#include "optimized/passes/forms/convolution_group_converter.h"

#include <utility>
#include <vector>

#include "optimized/passes/util/module_util.h"
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

int64_t GroupsOf(const Instruction& inst) {
  if (inst.opcode() != Opcode::kConvolution || !IsPlain(inst)) return 1;
  return inst.attributes().Integer(Attr::kBatchGroupCount, 1) == 1
             ? inst.attributes().Integer(Attr::kFeatureGroupCount, 1)
             : 1;
}

Instruction* Ungrouped(Instruction* convolution, int64_t groups) {
  const ConvDimLabels& labels = *convolution->attributes().DimLabels();
  Attributes attributes = convolution->attributes();
  attributes.Remove(Attr::kFeatureGroupCount);
  Shape part = Shape::Array(convolution->shape().element_type(), convolution->shape().dimensions());
  part.set_dimension(labels.output_feature, part.dimension(labels.output_feature) / groups);
  std::vector<Instruction*> parts;
  for (int64_t k = 0; k < groups; ++k) {
    Instruction* input = Part(convolution->operand(0), labels.input_feature, k, groups);
    Instruction* kernel = Part(convolution->operand(1), labels.kernel_output_feature, k, groups);
    parts.push_back(
        convolution->parent()->Add(Opcode::kConvolution, part, {input, kernel}, attributes));
  }
  return convolution->parent()->Add(Opcode::kConcatenate, convolution->shape(), parts,
                                    Attributes().Set(Attr::kDimension, {labels.output_feature}));
}

}  // namespace

absl::StatusOr<bool> ConvolutionGroupConverter::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kConvolution})) return false;
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    for (Instruction* inst : computation->PostOrder()) {
      const int64_t groups = GroupsOf(*inst);
      if (groups <= 1 || groups > kMostGroups) continue;
      Rewrite rewrite(context.gates, "ungroup-convolution", inst);
      if (rewrite) changed |= rewrite.Replace(Ungrouped(inst, groups));
    }
  }
  return changed;
}

}  // namespace assay
