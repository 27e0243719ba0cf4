// The sentences of the documents (conformance/mission_rows.tsv), built into the program.
#pragma once

#include <string_view>
#include <vector>

#include "spec/ops/op_table.h"

namespace assay {

struct MissionRow {
  std::string_view id;
  std::string_view kind;
  std::string_view name;
  std::string_view must;  // what an implementation has to do
};

const std::vector<MissionRow>& MissionRows();

// The rows about one op: its meaning, its attributes and overloads, its shapes. A row is found by
// its id: kind, name of the op (or its name in the documents), subject. Sentences about all binary
// or all unary element-wise ops belong to each of them.
std::vector<const MissionRow*> RowsOfOp(const OpInfo& op);

}  // namespace assay
