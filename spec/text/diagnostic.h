// Errors of something that was read: where, what, and what was expected instead.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace assay {

struct Diagnostic {
  std::string file;      // "" when the text did not come from a file
  int64_t line = 0;      // from 1; 0: no place
  int64_t column = 0;    // from 1, in bytes
  std::string message;   // what is wrong, with names and sizes
  std::string expected;  // what would be right; may be empty
  std::string source;    // the source line, shortened around the column if it is very long

  // file:line:column: error: message
  //   <source line>
  //        ^ expected ...
  std::string ToString() const;
};

// A diagnostic about the byte at `position` of `text`.
Diagnostic DiagnosticAt(std::string_view text, size_t position, std::string file,
                        std::string message, std::string expected = "");

// All diagnostics as one invalid-argument status, newline separated. Must not be empty.
absl::Status ToStatus(const std::vector<Diagnostic>& diagnostics);

}  // namespace assay
