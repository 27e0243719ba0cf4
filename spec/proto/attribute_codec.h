// Attributes of instructions and the fields of HloInstructionProto that hold them: one row per
// attribute. Document: hlo-proto chapters 3 and 5.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "spec/ir/instruction.h"
#include "spec/ops/op_table.h"
#include "spec/proto/hlo.pb.h"

namespace assay::proto {

absl::Status AttributesToProto(const Instruction& instruction, HloInstructionProto* proto);

// `shape` and `operands` are those of the instruction; some forms depend on them. `payloads` are
// the module's.
absl::StatusOr<Attributes> AttributesFromProto(const HloInstructionProto& proto, const OpInfo& info,
                                               const Shape& shape,
                                               absl::Span<Instruction* const> operands,
                                               const HloModuleProto& module);

}  // namespace assay::proto
