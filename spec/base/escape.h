// The escapes of strings in HLO text, and of what a terminal is shown.
#pragma once

#include <string>
#include <string_view>

namespace assay {

// Appends what stands between the quotes: control characters, quotes, backslashes and bytes outside
// ASCII are escaped. Lexer::String reads it back.
void AppendEscaped(std::string& out, std::string_view text);
// Appends the quotes as well.
void AppendQuoted(std::string& out, std::string_view text);

// Text from outside (a worker's words, names in a file) as a terminal may show it: what would
// command the terminal, turn the direction of the text or is no UTF-8 stands there as \u001b,
// \u202e or \xff. Lines and tabs stay. JSON text stays JSON of the same value.
std::string Printable(std::string_view text);

}  // namespace assay
