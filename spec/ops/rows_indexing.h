// Rows of the ops that address elements by arrays of indices or by comparison. Documents:
// operation semantics chapters 9 and 10; hlo-format 4.4.
#pragma once

#include "spec/ops/row_helpers.h"

namespace assay::rows {

constexpr std::vector<OpInfo> IndexingRows() {
  return {
      {.opcode = Opcode::kGather,
       .operands = {2, 2},
       .attributes = {Required(Attr::kOffsetDims), Required(Attr::kCollapsedSliceDims),
                      Required(Attr::kStartIndexMap), Optional(Attr::kOperandBatchingDims),
                      Optional(Attr::kStartIndicesBatchingDims), Required(Attr::kIndexVectorDim),
                      Required(Attr::kSliceSizes), Optional(Attr::kIndicesAreSorted)},
       .flags = kDataMovement | kShapeInferable,
       .infer = InferGather,
       .numeric = kBitsContract,
       .chapter = "9 Gather",
       .summary = "slices of the operand at given starts, clamped, stitched together"},
      {.opcode = Opcode::kScatter,
       .operands = {3, kAnyNumber},
       .attributes = {Required(Attr::kUpdateWindowDims), Required(Attr::kInsertedWindowDims),
                      Required(Attr::kScatterDimsToOperandDims), Optional(Attr::kInputBatchingDims),
                      Optional(Attr::kScatterIndicesBatchingDims), Required(Attr::kIndexVectorDim),
                      Optional(Attr::kIndicesAreSorted), Optional(Attr::kUniqueIndices)},
       .callees = CalleeForm::kToApply,
       .flags = kShapeInferable,
       .infer = InferScatter,
       .numeric = kBodyContract,
       .chapter = "9 Scatter",
       .summary = "operand with updates combined in at given positions"},
      {.opcode = Opcode::kSelectAndScatter,
       .operands = {3, 3},
       .attributes = {Optional(Attr::kWindow)},
       .callees = CalleeForm::kSelectScatter,
       .flags = kShapeInferable,
       .infer = InferSelectAndScatter,
       .numeric = kBodyContract,
       .chapter = "10 SelectAndScatter",
       .summary = "source values combined into the chosen element of each window"},
  };
}

}  // namespace assay::rows
