// Transposes operands and result around a convolution.
#include "optimized/passes/expanders/convolution_canonicalization.h"

#include <vector>

#include "optimized/analysis/canonical_convolution.h"
#include "optimized/passes/util/module_util.h"
#include "optimized/passes/util/rule_util.h"

namespace assay {
namespace {

// Dimension i of the result is dimension `from[i]` of `inst`; itself if nothing moves.
Instruction* Transposed(Instruction* inst, absl::Span<const int64_t> from) {
  bool moves = false;
  DimVector sizes;
  for (size_t i = 0; i < from.size(); ++i) {
    moves |= from[i] != static_cast<int64_t>(i);
    sizes.push_back(inst->shape().dimension(from[i]));
  }
  if (!moves) return inst;
  return inst->parent()->Add(Opcode::kTranspose, Shape::Array(inst->shape().element_type(), sizes),
                             {inst}, DimensionsAttr(from));
}

Int64List Order(int64_t first, const Int64List& spatial, std::initializer_list<int64_t> last) {
  Int64List order = spatial;
  if (first >= 0) order.insert(order.begin(), first);
  order.insert(order.end(), last);
  return order;
}

bool Canonicalize(Instruction* convolution, Gates& gates) {
  const ConvDimLabels& labels = *convolution->attributes().DimLabels();
  if (IsCanonicalConvolution(labels)) return false;
  Rewrite rewrite(gates, "canonicalize-convolution", convolution);
  if (!rewrite) return false;
  Instruction* input =
      Transposed(convolution->operand(0),
                 Order(labels.input_batch, labels.input_spatial, {labels.input_feature}));
  Instruction* kernel = Transposed(
      convolution->operand(1), Order(-1, labels.kernel_spatial,
                                     {labels.kernel_input_feature, labels.kernel_output_feature}));
  const Int64List output =
      Order(labels.output_batch, labels.output_spatial, {labels.output_feature});
  DimVector sizes, back(output.size());
  for (size_t i = 0; i < output.size(); ++i) {
    sizes.push_back(convolution->shape().dimension(output[i]));
    back[output[i]] = static_cast<int64_t>(i);
  }
  Attributes attributes = convolution->attributes();
  attributes.Set(Attr::kDimLabels,
                 AttrValue(CanonicalDimLabels(static_cast<int64_t>(labels.input_spatial.size()))));
  Instruction* canonical = convolution->parent()->Add(
      Opcode::kConvolution, Shape::Array(convolution->shape().element_type(), sizes),
      {input, kernel}, attributes);
  return rewrite.Replace(Transposed(canonical, back));
}

bool IsDefaultLayout(const Shape& shape) {
  return shape.layout().IsRowMajor() && shape.layout().extras() == nullptr;
}

}  // namespace

absl::StatusOr<bool> ConvolutionCanonicalization::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kConvolution})) return false;
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (inst->opcode() == Opcode::kConvolution && IsPlain(*inst) &&
          IsDefaultLayout(inst->shape())) {
        changed |= Canonicalize(inst, context.gates);
      }
    }
  }
  return changed;
}

}  // namespace assay
