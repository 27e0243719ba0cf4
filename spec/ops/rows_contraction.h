// Rows of the sums of products. Documents: operation semantics chapter 11; hlo-format 4.0.4 and
// 4.4.
#pragma once

#include "spec/ops/row_helpers.h"

namespace assay::rows {

constexpr std::vector<OpInfo> ContractionRows() {
  return {
      {.opcode = Opcode::kConvolution,
       .operands = {2, kAnyNumber},
       .attributes = {Optional(Attr::kWindow), Required(Attr::kDimLabels),
                      Optional(Attr::kFeatureGroupCount, 1), Optional(Attr::kBatchGroupCount, 1),
                      Optional(Attr::kConvolutionKind), Optional(Attr::kOperandPrecision),
                      Optional(Attr::kAlgorithm), Optional(Attr::kSparsityConfig)},
       .flags = kShapeInferable | kMixesFloatTypes,
       .infer = InferConvolution,
       .numeric = kOrderContract,
       .chapter = "11 ConvGeneral",
       .summary = "convolution with strides, dilations, groups"},
      {.opcode = Opcode::kDot,
       .operands = {2, 2},
       .attributes = {Optional(Attr::kLhsBatchDims), Always(Attr::kLhsContractingDims),
                      Optional(Attr::kRhsBatchDims), Always(Attr::kRhsContractingDims),
                      Optional(Attr::kOperandPrecision), Optional(Attr::kAlgorithm)},
       .flags = kShapeInferable | kMixesFloatTypes,
       .infer = InferDot,
       .numeric = kOrderContract,
       .chapter = "11 DotGeneral",
       .summary = "sums of products over contracting dimensions, per batch"},
      {.opcode = Opcode::kRaggedDot,
       .operands = {3, 3},
       .attributes = {Optional(Attr::kLhsBatchDims), Always(Attr::kLhsContractingDims),
                      Optional(Attr::kRhsBatchDims), Always(Attr::kRhsContractingDims),
                      Always(Attr::kLhsRaggedDims), Always(Attr::kRhsGroupDims),
                      Optional(Attr::kOperandPrecision)},
       .flags = kShapeInferable | kMixesFloatTypes,
       .infer = InferRaggedDot,
       .numeric = kOrderContract,
       .chapter = "hlo-format 4.4 ragged-dot",
       .summary = "dot whose groups have sizes known at run time"},
      {.opcode = Opcode::kScaledDot,
       .operands = {4, 4},
       .types = kF,
       .attributes = {Optional(Attr::kLhsBatchDims), Always(Attr::kLhsContractingDims),
                      Optional(Attr::kRhsBatchDims), Always(Attr::kRhsContractingDims),
                      Optional(Attr::kOperandPrecision), Optional(Attr::kAlgorithm)},
       .flags = kShapeInferable | kMixesFloatTypes,
       .infer = InferScaledDot,
       .numeric = kOrderContract,
       .chapter = "hlo-format 4.0.4 scaled-dot",
       .summary = "dot of block-scaled operands"},
  };
}

}  // namespace assay::rows
