// The values of attributes that nobody wrote. Readers share them, so that equal programs are equal.
#pragma once

#include "spec/ops/op_table.h"

namespace assay {

// True if an absent attribute of this row stands for `value`: readers then drop it.
bool IsDefaultValue(const AttrSpec& spec, AttrKind kind, const AttrValue& value);
// The value of an attribute that is always stored and was left out.
AttrValue DefaultValue(const AttrSpec& spec, AttrKind kind);

}  // namespace assay
