// What an attribute of an op holds when nobody says it. Readers share it, so that equal programs
// are equal.
#pragma once

#include "spec/ops/op_table.h"

namespace assay {

// `value` is the one that an absent attribute of this row stands for: readers drop it.
bool IsDefaultValue(const AttrSpec& spec, AttrKind kind, const AttrValue& value);
// What an attribute that is always stored holds when it was left out.
AttrValue DefaultValue(const AttrSpec& spec, AttrKind kind);

}  // namespace assay
