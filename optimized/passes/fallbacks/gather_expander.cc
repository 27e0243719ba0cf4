// The slices are stacked along one dimension, which is then shaped like the indices.
#include "optimized/passes/fallbacks/gather_expander.h"

#include <algorithm>
#include <vector>

#include "optimized/passes/fallbacks/index_rows.h"
#include "optimized/passes/util/counted_loop.h"
#include "optimized/passes/util/rule_util.h"

namespace assay {
namespace {

bool Has(absl::Span<const int64_t> list, int64_t d) {
  return std::find(list.begin(), list.end(), d) != list.end();
}

// The slice that the vector of indices asks for, without its collapsed dimensions.
Instruction* SliceFor(const Instruction& gather, Computation* body, Instruction* operand,
                      Instruction* vector, absl::Span<const int64_t> map, const Shape& part) {
  const absl::Span<const int64_t> sizes = gather.attributes().Integers(Attr::kSliceSizes);
  std::vector<Instruction*> operands = {operand};
  for (int64_t d = 0; d < operand->shape().rank(); ++d) {
    const auto at = std::find(map.begin(), map.end(), d);
    if (at == map.end()) {
      operands.push_back(AddScalarInteger(body, vector->shape().element_type(), 0));
    } else {
      operands.push_back(
          AddSliceAt(body, vector, 0, AddScalarInteger(body, ElementType::kS64, at - map.begin())));
    }
  }
  Instruction* slice =
      body->Add(Opcode::kDynamicSlice, Shape::Array(operand->shape().element_type(), sizes),
                operands, Attributes().Set(Attr::kDynamicSliceSizes, sizes));
  return body->Add(Opcode::kReshape, part, {slice});
}

}  // namespace

bool GatherExpander::Matches(const Instruction& inst) const {
  return inst.shape().ElementCount() > 0;
}

Instruction* GatherExpander::Expand(Instruction* inst) const {
  Computation* into = inst->parent();
  const IndexNumbers numbers = IndexNumbers::OfGather(*inst);
  const ElementType type = inst->shape().element_type();
  const IndexRows rows = AddIndexRows(inst->operand(1), numbers, /*wide=*/false);
  const auto batch = static_cast<int64_t>(rows.batch.size());
  DimVector part_sizes;
  const absl::Span<const int64_t> sizes = inst->attributes().Integers(Attr::kSliceSizes);
  for (int64_t d = 0; d < static_cast<int64_t>(sizes.size()); ++d) {
    if (!Has(numbers.absent_dims, d) && !Has(numbers.batching_dims, d))
      part_sizes.push_back(sizes[d]);
  }
  const Shape part = Shape::Array(type, part_sizes);
  DimVector stack_sizes = part_sizes;
  stack_sizes.insert(stack_sizes.begin(), rows.matrix->shape().dimension(0));
  const Shape stack = Shape::Array(type, stack_sizes);
  const auto trip = [&](Computation* body, Instruction* at, absl::Span<Instruction* const> now) {
    Instruction* slice =
        SliceFor(*inst, body, now[0], AddSliceAt(body, now[1], 0, at), rows.map, part);
    return std::vector<Instruction*>{now[0], now[1], AddUpdateAt(body, now[2], 0, at, slice)};
  };
  Instruction* zeros = AddSplat(into, stack, into->AddConstant(Literal(Shape::Scalar(type))));
  Instruction* all = AddCountedLoop(into, rows.matrix->shape().dimension(0),
                                    {inst->operand(0), rows.matrix, zeros}, 2, trip)[0];
  DimVector stacked = rows.batch;
  stacked.insert(stacked.end(), part_sizes.begin(), part_sizes.end());
  all = into->Add(Opcode::kReshape, Shape::Array(type, stacked), {all});
  Int64List order;
  int64_t next_batch = 0, next_offset = batch;
  for (int64_t d = 0; d < inst->shape().rank(); ++d) {
    order.push_back(Has(numbers.window_dims, d) ? next_offset++ : next_batch++);
  }
  return into->Add(Opcode::kTranspose, inst->shape(), {all}, DimensionsAttr(order));
}

}  // namespace assay
