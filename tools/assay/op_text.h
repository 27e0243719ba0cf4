// Rows of the op table in words.
#pragma once

#include <string>

#include "spec/backend/backend.h"
#include "spec/ops/op_table.h"

namespace assay {

std::string TypesText(TypeMask mask);        // "pred, signed, unsigned"
std::string OperandsText(const OpInfo& op);  // "2", "1..3", "1 or more"
std::string ChapterText(const OpInfo& op);   // "operation semantics 12", "hlo-format 4.0.5"
// True if the compiler `cpu` takes the op on the types it takes most of: f32.
bool IsCompiled(const Backend& cpu, const OpInfo& op);
std::string_view Name(ComparisonClass comparison);
std::string_view Meaning(ComparisonClass comparison);

}  // namespace assay
