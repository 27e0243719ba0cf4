// The escapes of strings in HLO text.
#pragma once

#include <string>
#include <string_view>

namespace assay {

// Appends what stands between the quotes: control characters, quotes, backslashes and bytes outside
// ASCII are escaped. Lexer::String reads it back.
void AppendEscaped(std::string& out, std::string_view text);
// Appends the quotes as well.
void AppendQuoted(std::string& out, std::string_view text);

}  // namespace assay
