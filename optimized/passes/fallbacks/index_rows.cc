// Transposes and reshapes the indices, and counts the batch.
#include "optimized/passes/fallbacks/index_rows.h"

#include <limits>
#include <vector>

#include "optimized/passes/util/rule_util.h"

namespace assay {
namespace {

Instruction* ToS64(Instruction* indices) {
  const ElementType type = indices->shape().element_type();
  if (type == ElementType::kS64) return indices;
  Computation* into = indices->parent();
  if (type == ElementType::kU64) {
    Instruction* most =
        AddSplatInteger(into, indices->shape(), std::numeric_limits<int64_t>::max());
    indices = into->Add(Opcode::kMinimum, indices->shape(), {indices, most});
  }
  return into->Add(Opcode::kConvert, Shape::Array(ElementType::kS64, indices->shape().dimensions()),
                   {indices});
}

}  // namespace

IndexRows AddIndexRows(Instruction* indices, const IndexNumbers& numbers, bool wide) {
  Computation* into = indices->parent();
  const Shape& shape = indices->shape();
  const int64_t vector = numbers.index_vector_dim;
  IndexRows result;
  Int64List order;
  int64_t rows = 1, length = 1;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (d == vector) continue;
    order.push_back(d);
    result.batch.push_back(shape.dimension(d));
    rows *= shape.dimension(d);
  }
  if (vector < shape.rank()) {
    length = shape.dimension(vector);
    order.push_back(vector);
    DimVector sizes = result.batch;
    sizes.push_back(length);
    indices = into->Add(Opcode::kTranspose, Shape::Array(shape.element_type(), sizes), {indices},
                        DimensionsAttr(order));
  }
  result.matrix = into->Add(
      Opcode::kReshape, Shape::Array(indices->shape().element_type(), {rows, length}), {indices});
  result.map.assign(numbers.index_map.begin(), numbers.index_map.end());
  if (wide || !numbers.batching_dims.empty()) result.matrix = ToS64(result.matrix);
  std::vector<Instruction*> columns = {result.matrix};
  for (size_t k = 0; k < numbers.batching_dims.size(); ++k) {
    const int64_t d = numbers.indices_batching_dims[k];
    Instruction* place =
        into->Add(Opcode::kIota, Shape::Array(ElementType::kS64, result.batch), {},
                  Attributes().Set(Attr::kIotaDimension, AttrValue(d < vector ? d : d - 1)));
    columns.push_back(
        into->Add(Opcode::kReshape, Shape::Array(ElementType::kS64, {rows, 1}), {place}));
    result.map.push_back(numbers.batching_dims[k]);
  }
  if (columns.size() > 1) {
    const auto width = length + static_cast<int64_t>(columns.size()) - 1;
    result.matrix = into->Add(Opcode::kConcatenate, Shape::Array(ElementType::kS64, {rows, width}),
                              columns, Attributes().Set(Attr::kDimension, {1}));
  }
  return result;
}

}  // namespace assay
