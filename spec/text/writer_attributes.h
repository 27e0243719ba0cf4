// Attributes as HLO text, by kind. Document: hlo-format chapters 3.4 to 3.8 and 4.2.
#pragma once

#include <string>

#include "spec/ops/attributes.h"

namespace assay {

// "dimensions={1,0}"
void AppendAttribute(std::string& out, Attr attr, const AttrValue& value);
// C-escaped and quoted.
void AppendQuoted(std::string& out, std::string_view text);
// Whether the whole text is one balanced {...} that can be printed without quotes.
bool IsBracedBlob(std::string_view text);

}  // namespace assay
