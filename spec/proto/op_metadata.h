// The origin of instructions as data: the metadata that modules keep as text, and the stack tables
// it refers to. Document: hlo-format chapters 1.3 and 3.5.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/ir/module.h"

namespace assay {

// Zero and empty for what is not given; lines and columns count from 1.
struct OpMetadata {
  std::string op_type, op_name, source_file, deduplicated_name, scheduling_name;
  int32_t source_line = 0, source_end_line = 0, source_column = 0, source_end_column = 0;
  int32_t stack_frame_id = 0;  // in the module's tables, from 1
  bool operator==(const OpMetadata&) const = default;
};

// All empty for an instruction without metadata.
absl::StatusOr<OpMetadata> MetadataOf(const Instruction& instruction);
// Parts of the metadata that OpMetadata has no field for (profile types, payload) stay as they
// were.
absl::Status SetMetadata(Instruction& instruction, const OpMetadata& metadata);

struct SourceLocation {
  std::string file, function;
  int32_t line = 0, end_line = 0, column = 0, end_column = 0;
  bool operator==(const SourceLocation&) const = default;
};
// From the frame of the instruction's metadata to its outermost caller; empty if it names none. An
// error if the tables refer to what they do not have, or to each other in a circle.
absl::StatusOr<std::vector<SourceLocation>> CallStackOf(const Instruction& instruction);

}  // namespace assay
