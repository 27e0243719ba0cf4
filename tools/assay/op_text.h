// Rows of the op table in words.
#pragma once

#include <string>

#include "spec/ops/op_table.h"

namespace assay {

std::string TypesText(TypeMask mask);        // "pred, signed, unsigned"
std::string OperandsText(const OpInfo& op);  // "2", "1..3", "1 or more"
std::string_view Name(ComparisonClass comparison);
std::string_view Meaning(ComparisonClass comparison);

}  // namespace assay
