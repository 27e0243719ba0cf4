// Emits dots and convolutions as loops over sums of products.
#include "optimized/codegen/contraction.h"

#include "absl/algorithm/container.h"
#include "llvm/IR/Intrinsics.h"
#include "optimized/analysis/walks/contractions.h"
#include "optimized/codegen/elementwise.h"
#include "optimized/codegen/loop_nest.h"
#include "optimized/codegen/reduction.h"
#include "optimized/codegen/windows.h"
#include "spec/base/status_macros.h"

namespace assay {

using llvm::Value;
using Frame = ElementEmitter::Frame;

namespace {

// True if single results may be summed with partial sums in the lanes of a vector.
bool SumsInLanes(ElementEmitter& emitter, const Frame* frame, const Instruction& dot) {
  const absl::Span<const int64_t> lhs = dot.attributes().Integers(Attr::kLhsContractingDims);
  const absl::Span<const int64_t> rhs = dot.attributes().Integers(Attr::kRhsContractingDims);
  const int lanes = emitter.vector_width(DotAccumulator(dot));
  return lanes > 1 && !lhs.empty() && dot.operand(0)->shape().dimension(lhs.back()) >= lanes &&
         emitter.CanWalkLanes(frame, dot.operand(0), static_cast<int>(lhs.back())) &&
         emitter.CanWalkLanes(frame, dot.operand(1), static_cast<int>(rhs.back()));
}

}  // namespace

absl::StatusOr<ElementValues> EmitDot(ElementEmitter& emitter, const Frame* frame,
                                      const Instruction& instruction, const ElementIndex& index) {
  ValueBuilder& builder = emitter.builder();
  const DotDims dims = DotDims::Of(instruction);
  const ElementType accumulator = DotAccumulator(instruction);
  const ElementType result_type = instruction.shape().element_type();
  std::vector<Value*> at_result = index.dims;
  if (at_result.empty()) at_result.assign(instruction.shape().rank(), emitter.Index(0));
  std::vector<int64_t> sizes;
  for (int64_t d : instruction.attributes().Integers(Attr::kLhsContractingDims)) {
    sizes.push_back(instruction.operand(0)->shape().dimension(d));
  }

  // The operand's element for contraction indices `at`; lanes along result dimension `result_lane`
  // or contracted dimension `sum_lane`.
  const auto element = [&](int64_t operand, const std::vector<Value*>& at, int width,
                           int result_lane, int sum_lane) -> absl::StatusOr<Value*> {
    const std::vector<int64_t>& map = operand == 0 ? dims.lhs : dims.rhs;
    ElementIndex full;
    for (size_t d = 0; d < map.size(); ++d) {
      full.dims.push_back(map[d] >= 0 ? at_result[map[d]] : at[-1 - map[d]]);
      bool lane = map[d] >= 0 ? map[d] == result_lane : -1 - map[d] == sum_lane;
      if (lane && width > 1) full.lane_dim = static_cast<int>(d);
    }
    full.width = full.lane_dim >= 0 ? width : 1;
    ASSAY_ASSIGN_OR_RETURN(auto* value, emitter.EmitOne(frame, instruction.operand(operand), full));
    const ElementType from = instruction.operand(operand)->shape().element_type();
    return builder.Splat(builder.Convert(from, accumulator, value), width);
  };

  if (index.width == 1 && SumsInLanes(emitter, frame, instruction)) {
    const int last = static_cast<int>(sizes.size()) - 1;
    const auto term = [&](const std::vector<Value*>& at, int width) -> absl::StatusOr<Value*> {
      ASSAY_ASSIGN_OR_RETURN(auto* x, element(0, at, width, -1, last));
      ASSAY_ASSIGN_OR_RETURN(auto* y, element(1, at, width, -1, last));
      return EmitMultiply(builder, accumulator, x, y);
    };
    const LaneFold fold{Opcode::kAdd, accumulator, sizes, emitter.vector_width(accumulator)};
    ASSAY_ASSIGN_OR_RETURN(auto* sum, FoldInLanes(emitter, fold, term));
    return ElementValues{builder.Convert(accumulator, result_type, sum)};
  }

  llvm::Type* type = builder.RegisterType(accumulator, index.width);
  const auto add_product = [&](const std::vector<Value*>& at,
                               const ElementValues& carried) -> absl::StatusOr<ElementValues> {
    ASSAY_ASSIGN_OR_RETURN(auto* x, element(0, at, index.width, index.lane_dim, -1));
    ASSAY_ASSIGN_OR_RETURN(auto* y, element(1, at, index.width, index.lane_dim, -1));
    if (IsFloat(accumulator)) return ElementValues{builder.MultiplyAdd(x, y, carried[0])};
    return ElementValues{
        EmitAdd(builder, accumulator, carried[0], EmitMultiply(builder, accumulator, x, y))};
  };
  const ElementValues zero = {llvm::Constant::getNullValue(type)};
  ASSAY_ASSIGN_OR_RETURN(ElementValues sum, Nest(emitter, sizes, zero, add_product));
  return ElementValues{builder.Convert(accumulator, result_type, sum.front())};
}

namespace {

const ConvDimLabels& LabelsOf(const Instruction& convolution) {
  return *convolution.attributes().DimLabels();
}

// The batch and the features of the input that the group of an output feature reads.
struct GroupPlace {
  Value* batch;
  Value* first_feature;
};

GroupPlace PlaceInGroup(ElementEmitter& emitter, const Instruction& convolution,
                        const ElementIndex& index) {
  const Attributes& attributes = convolution.attributes();
  const ConvDimLabels& labels = LabelsOf(convolution);
  const int64_t feature_groups = attributes.Integer(Attr::kFeatureGroupCount, 1);
  const int64_t batch_groups = attributes.Integer(Attr::kBatchGroupCount, 1);
  GroupPlace place{index.dims[labels.output_batch], emitter.Index(0)};
  if (feature_groups * batch_groups <= 1) return place;
  const int64_t group_inputs =
      convolution.operand(1)->shape().dimension(labels.kernel_input_feature);
  const int64_t group_outputs = emitter.builder().bends().Number(
      "optimize-kernel/group-outputs", &convolution,
      convolution.shape().dimension(labels.output_feature) / (feature_groups * batch_groups));
  Value* group = emitter.builder().ir().CreateUDiv(index.dims[labels.output_feature],
                                                   emitter.Index(group_outputs));
  if (feature_groups > 1) place.first_feature = emitter.IndexMul(group, group_inputs);
  if (batch_groups > 1) {
    place.batch = emitter.IndexAdd(
        emitter.IndexMul(group, convolution.shape().dimension(labels.output_batch)), place.batch);
  }
  return place;
}

// The elements that one position of the window reads.
struct ConvolutionPlace {
  ElementIndex input, kernel;  // without the input feature
  Value* exists = nullptr;     // null: always true
};

ConvolutionPlace PlaceInConvolution(ElementEmitter& emitter, const Instruction& convolution,
                                    Value* batch, const ElementIndex& index,
                                    const std::vector<Value*>& at) {
  const ConvDimLabels& labels = LabelsOf(convolution);
  const absl::Span<const WindowDim> window = convolution.attributes().Window(Attr::kWindow);
  const Shape &input = convolution.operand(0)->shape(), &kernel = convolution.operand(1)->shape();
  ConvolutionPlace place;
  place.input.dims.assign(input.rank(), nullptr);
  place.kernel.dims.assign(kernel.rank(), nullptr);
  place.input.dims[labels.input_batch] = batch;
  place.kernel.dims[labels.kernel_output_feature] = index.dims[labels.output_feature];
  place.kernel.width = index.width;
  if (index.width > 1) place.kernel.lane_dim = static_cast<int>(labels.kernel_output_feature);
  for (size_t d = 0; d < window.size(); ++d) {
    const int64_t output_dim = labels.output_spatial[d], input_dim = labels.input_spatial[d];
    const WindowPlace found =
        PlaceInWindow(emitter, window[d], convolution.shape().dimension(output_dim),
                      input.dimension(input_dim), index.dims[output_dim], at[d]);
    place.exists = And(emitter, place.exists, found.exists);
    place.input.dims[input_dim] = found.index;
    place.kernel.dims[labels.kernel_spatial[d]] =
        window[d].reversal && !emitter.builder().bends().Holds(
                                  "optimize-kernel/window-not-reversed", &convolution, false)
            ? emitter.builder().ir().CreateSub(emitter.Index(window[d].size - 1), at[d])
            : at[d];
  }
  return place;
}

// `carried` plus the products of one position of the window over the input features of the group.
absl::StatusOr<ElementValues> SumFeatures(ElementEmitter& emitter, const Frame* frame,
                                          const Instruction& convolution, ConvolutionPlace place,
                                          Value* first_feature, const ElementValues& carried) {
  ValueBuilder& builder = emitter.builder();
  const ConvDimLabels& labels = LabelsOf(convolution);
  const ElementType accumulator = DotAccumulator(convolution);
  const int width = place.kernel.width;
  const int64_t group_inputs =
      convolution.operand(1)->shape().dimension(labels.kernel_input_feature);
  const auto add_product = [&](Value* feature,
                               const ElementValues& now) -> absl::StatusOr<ElementValues> {
    place.input.dims[labels.input_feature] = emitter.IndexAdd(first_feature, feature);
    place.kernel.dims[labels.kernel_input_feature] = feature;
    Value* factors[2];
    for (int k = 0; k < 2; ++k) {
      ASSAY_ASSIGN_OR_RETURN(auto* value, emitter.EmitOne(frame, convolution.operand(k),
                                                          k == 0 ? place.input : place.kernel));
      const ElementType from = convolution.operand(k)->shape().element_type();
      factors[k] = builder.Splat(builder.Convert(from, accumulator, value), width);
    }
    Value* product = EmitMultiply(builder, accumulator, factors[0], factors[1]);
    return ElementValues{EmitAdd(builder, accumulator, now[0], product)};
  };
  return emitter.Loop(emitter.Index(0), emitter.Index(group_inputs), 1, carried, add_product);
}

}  // namespace

// Products are summed in one order, spatial positions outermost, and not contracted: the same bits
// on every machine.
absl::StatusOr<ElementValues> EmitConvolution(ElementEmitter& emitter, const Frame* frame,
                                              const Instruction& instruction,
                                              const ElementIndex& index) {
  ValueBuilder& builder = emitter.builder();
  const ElementType accumulator = DotAccumulator(instruction);
  const ElementType type = instruction.shape().element_type();
  ElementValues sum = {
      llvm::Constant::getNullValue(builder.RegisterType(accumulator, index.width))};
  if (instruction.operand(0)->shape().ElementCount() > 0 &&
      instruction.operand(1)->shape().ElementCount() > 0) {
    const GroupPlace group = PlaceInGroup(emitter, instruction, index);
    std::vector<int64_t> spatial;
    for (const WindowDim& dim : instruction.attributes().Window(Attr::kWindow)) {
      spatial.push_back(dim.size);
    }
    const auto add_position = [&](const std::vector<Value*>& at, const ElementValues& carried) {
      const ConvolutionPlace place =
          PlaceInConvolution(emitter, instruction, group.batch, index, at);
      return Guarded(emitter, place.exists, carried, [&](const ElementValues& now) {
        return SumFeatures(emitter, frame, instruction, place, group.first_feature, now);
      });
    };
    ASSAY_ASSIGN_OR_RETURN(sum, Nest(emitter, spatial, sum, add_position));
  }
  return ElementValues{builder.Convert(accumulator, type, sum.front())};
}

}  // namespace assay
