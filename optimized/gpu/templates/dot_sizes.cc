// Sorts dimensions, and finds elements again by them.
#include "optimized/gpu/templates/dot_sizes.h"

#include "absl/algorithm/container.h"
#include "optimized/analysis/walks/contractions.h"
#include "optimized/codegen/loop_nest.h"
#include "optimized/codegen/windows.h"

namespace assay::gpu {
namespace {

using llvm::Value;

int64_t CountOf(const DimVector& dims) {
  int64_t count = 1;
  for (int64_t size : dims) count *= size;
  return count;
}

bool IsConvolution(const Instruction& contraction) {
  return contraction.opcode() == Opcode::kConvolution;
}
const ConvDimLabels& LabelsOf(const Instruction& convolution) {
  return *convolution.attributes().DimLabels();
}

DotSizes SizesOfConvolution(const Instruction& convolution) {
  const ConvDimLabels& labels = LabelsOf(convolution);
  const Shape &result = convolution.shape(), &kernel = convolution.operand(1)->shape();
  const int64_t groups = convolution.attributes().Integer(Attr::kFeatureGroupCount, 1);
  DotSizes sizes;
  sizes.batch = {groups};
  sizes.columns = {result.dimension(labels.output_feature) / groups};
  sizes.rows = {result.dimension(labels.output_batch)};
  for (int64_t d : labels.output_spatial) sizes.rows.push_back(result.dimension(d));
  for (const WindowDim& dim : convolution.attributes().Window(Attr::kWindow)) {
    sizes.depth.push_back(dim.size);
  }
  sizes.depth.push_back(kernel.dimension(labels.kernel_input_feature));
  return sizes;
}

OperandPlace PlaceInInput(ElementEmitter& emitter, const Instruction& convolution, Value* batch,
                          Value* line, Value* depth) {
  const ConvDimLabels& labels = LabelsOf(convolution);
  const DotSizes sizes = SizesOfConvolution(convolution);
  const absl::Span<const WindowDim> window = convolution.attributes().Window(Attr::kWindow);
  const Shape& input = convolution.operand(0)->shape();
  const std::vector<Value*> rows = emitter.Delinearize(sizes.rows, line);
  const std::vector<Value*> inside = emitter.Delinearize(sizes.depth, depth);
  OperandPlace place{std::vector<Value*>(input.rank(), nullptr)};
  place.dims[labels.input_batch] = rows[0];
  place.dims[labels.input_feature] =
      emitter.IndexAdd(emitter.IndexMul(batch, sizes.depth.back()), inside.back());
  for (size_t d = 0; d < window.size(); ++d) {
    const int64_t dim = labels.input_spatial[d];
    const WindowPlace found = PlaceInWindow(emitter, window[d], sizes.rows[d + 1],
                                            input.dimension(dim), rows[d + 1], inside[d]);
    place.dims[dim] = found.index;
    place.exists = And(emitter, place.exists, found.exists);
  }
  return place;
}

OperandPlace PlaceInKernel(ElementEmitter& emitter, const Instruction& convolution, Value* batch,
                           Value* line, Value* depth) {
  const ConvDimLabels& labels = LabelsOf(convolution);
  const DotSizes sizes = SizesOfConvolution(convolution);
  const absl::Span<const WindowDim> window = convolution.attributes().Window(Attr::kWindow);
  const std::vector<Value*> inside = emitter.Delinearize(sizes.depth, depth);
  OperandPlace place{std::vector<Value*>(convolution.operand(1)->shape().rank(), nullptr)};
  place.dims[labels.kernel_output_feature] =
      emitter.IndexAdd(emitter.IndexMul(batch, sizes.columns[0]), line);
  place.dims[labels.kernel_input_feature] = inside.back();
  for (size_t d = 0; d < window.size(); ++d) {
    place.dims[labels.kernel_spatial[d]] =
        window[d].reversal
            ? emitter.builder().ir().CreateSub(emitter.Index(window[d].size - 1), inside[d])
            : inside[d];
  }
  return place;
}

}  // namespace

DotSizes DotSizes::Of(const Instruction& contraction) {
  DotSizes sizes;
  if (IsConvolution(contraction)) {
    sizes = SizesOfConvolution(contraction);
  } else {
    const DotDims dims = DotDims::Of(contraction);
    for (int64_t d = 0; d < contraction.shape().rank(); ++d) {
      const bool left = absl::c_linear_search(dims.lhs, d);
      const bool right = absl::c_linear_search(dims.rhs, d);
      const int64_t size = contraction.shape().dimension(d);
      (left && right ? sizes.batch : left ? sizes.rows : sizes.columns).push_back(size);
    }
    for (int64_t d : contraction.attributes().Integers(Attr::kLhsContractingDims)) {
      sizes.depth.push_back(contraction.operand(0)->shape().dimension(d));
    }
  }
  sizes.batches = CountOf(sizes.batch);
  sizes.row_count = CountOf(sizes.rows);
  sizes.column_count = CountOf(sizes.columns);
  sizes.depth_count = CountOf(sizes.depth);
  return sizes;
}

bool DepthIsInnermost(const Instruction& contraction, int64_t operand) {
  if (IsConvolution(contraction)) {
    const ConvDimLabels& labels = LabelsOf(contraction);
    const int64_t feature = operand == 0 ? labels.input_feature : labels.kernel_input_feature;
    return feature == contraction.operand(operand)->shape().rank() - 1;
  }
  const DotDims dims = DotDims::Of(contraction);
  return (operand == 0 ? dims.lhs : dims.rhs).back() < 0;
}

std::vector<Value*> ResultPlace(ElementEmitter& emitter, const Instruction& contraction,
                                Value* batch, Value* row, Value* column) {
  const DotSizes sizes = DotSizes::Of(contraction);
  const std::vector<Value*> rows = emitter.Delinearize(sizes.rows, row);
  if (IsConvolution(contraction)) {
    const ConvDimLabels& labels = LabelsOf(contraction);
    std::vector<Value*> at(contraction.shape().rank(), nullptr);
    at[labels.output_batch] = rows[0];
    for (size_t d = 0; d < labels.output_spatial.size(); ++d) {
      at[labels.output_spatial[d]] = rows[d + 1];
    }
    at[labels.output_feature] = emitter.IndexAdd(emitter.IndexMul(batch, sizes.columns[0]), column);
    return at;
  }
  std::vector<Value*> at = emitter.Delinearize(sizes.batch, batch);
  const std::vector<Value*> columns = emitter.Delinearize(sizes.columns, column);
  at.insert(at.end(), rows.begin(), rows.end());
  at.insert(at.end(), columns.begin(), columns.end());
  return at;
}

OperandPlace PlaceOfOperand(ElementEmitter& emitter, const Instruction& contraction,
                            int64_t operand, Value* batch, Value* line, Value* depth) {
  const bool is_left = operand == 0;
  if (IsConvolution(contraction)) {
    return is_left ? PlaceInInput(emitter, contraction, batch, line, depth)
                   : PlaceInKernel(emitter, contraction, batch, line, depth);
  }
  const DotDims dims = DotDims::Of(contraction);
  Value* zero = emitter.Index(0);
  const std::vector<Value*> result =
      ResultPlace(emitter, contraction, batch, is_left ? line : zero, is_left ? zero : line);
  const std::vector<Value*> contracted =
      emitter.Delinearize(DotSizes::Of(contraction).depth, depth);
  OperandPlace place;
  for (int64_t from : is_left ? dims.lhs : dims.rhs) {
    place.dims.push_back(from >= 0 ? result[from] : contracted[-1 - from]);
  }
  return place;
}

}  // namespace assay::gpu
