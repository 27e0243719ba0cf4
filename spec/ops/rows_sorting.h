// Rows of the ops that order elements. Document: operation semantics chapter 10.
#pragma once

#include "spec/ops/row_helpers.h"

namespace assay::rows {

constexpr std::vector<OpInfo> SortingRows() {
  return {
      {.opcode = Opcode::kSort,
       .operands = {1, kAnyNumber},
       .attributes = {Required(Attr::kDimension), Optional(Attr::kIsStable)},
       .callees = CalleeForm::kToApply,
       .flags = kShapeInferable | kMixesFloatTypes,
       .infer = InferSort,
       .numeric = kBodyContract,
       .chapter = "10 Sort",
       .summary = "operands permuted along a dimension into the comparator's order"},
      {.opcode = Opcode::kTopK,
       .operands = {1, 1},
       .types = kP | kI | kF,
       .attributes = {Required(Attr::kK), Always(Attr::kLargest, 1), Always(Attr::kIsStable, 1)},
       .flags = kShapeInferable,
       .infer = InferTopK,
       .numeric = kBitsContract,
       .chapter = "10 TopK",
       .summary = "the k first values of the last dimension in order, and their indices"},
  };
}

}  // namespace assay::rows
