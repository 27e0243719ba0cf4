// The words of StableHLO for types and ops.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "spec/ir/instruction.h"

namespace assay {

// "tensor<2x3xf32>". Errors: a type or bounds that StableHLO does not have.
absl::StatusOr<std::string> StableHloType(const Shape& shape);

struct StableHloOp {
  std::string name, attributes;  // "stablehlo.iota", "iota_dimension = 0 : i64"
};
// The op must be no call, loop, branch or tuple.
absl::StatusOr<StableHloOp> StableHloOpOf(const Instruction& at);

}  // namespace assay
