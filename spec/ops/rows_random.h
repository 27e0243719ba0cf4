// Rows of the random numbers. Document: operation semantics chapter 13.
#pragma once

#include "spec/ops/row_helpers.h"

namespace assay::rows {

constexpr std::vector<OpInfo> RandomRows() {
  return {
      {.opcode = Opcode::kRng,
       .operands = {2, 2},
       .types = kPI | kF,
       .attributes = {Required(Attr::kDistribution)},
       .flags = kSideEffect,
       .infer = InferRng,
       .numeric = kStatisticalContract,
       .chapter = "13 RngUniform, RngNormal",
       .summary = "random numbers from the device's own state"},
      {.opcode = Opcode::kRngBitGenerator,
       .operands = {1, 1},
       .types = kU,
       .attributes = {Required(Attr::kRngAlgorithm)},
       .infer = InferRngBitGenerator,
       .numeric = kExactContract,
       .chapter = "13 RngBitGenerator",
       .summary = "random bits and the next state, from a given state"},
      {.opcode = Opcode::kRngGetAndUpdateState,
       .operands = {0, 0},
       .attributes = {Required(Attr::kDelta)},
       .flags = kSideEffect,
       .infer = InferRngGetAndUpdateState,
       .numeric = kUnspecifiedContract,
       .chapter = "13",
       .summary = "the device's random state, advanced"},
  };
}

}  // namespace assay::rows
