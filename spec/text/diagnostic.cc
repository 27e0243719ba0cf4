// Diagnostics as text: place, line and caret.
#include "spec/text/diagnostic.h"

#include <algorithm>

#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr size_t kSourceLead = 57, kSourceWidth = 120;

// The line around `position`, shortened if it is very long; see Diagnostic::ToString.
std::string SourceLine(std::string_view text, size_t start, size_t position) {
  size_t end = std::min(text.find_first_of("\n\r", position), text.size());
  std::string line;
  if (position - start > kSourceWidth) {
    line = "...";
    start = position - kSourceLead;
  }
  bool cut = end - start > 2 * kSourceWidth;
  if (cut) end = start + 2 * kSourceWidth;
  for (char c : text.substr(start, end - start)) {
    // One column per byte, and nothing that a terminal would obey.
    line += static_cast<uint8_t>(c) < 0x20 || c == 0x7F ? ' ' : c;
  }
  if (cut) line += "...";
  return line;
}

}  // namespace

std::string Diagnostic::ToString() const {
  std::string out = file.empty() ? "<text>" : file;
  if (line > 0) StrAppend(&out, ":", line, ":", column);
  StrAppend(&out, ": error: ", message);
  bool has_source = line > 0 && !source.empty();
  if (!has_source) {
    if (!expected.empty()) StrAppend(&out, "; expected ", expected);
    return out;
  }
  // The source line may begin with "..." where it was shortened; the caret is placed by the
  // reader's rule that the shown part keeps the column when the line is short and centres it
  // otherwise.
  constexpr int64_t kLead = 60;
  bool shortened = source.starts_with("...");
  int64_t caret = shortened ? kLead : column - 1;
  StrAppend(&out, "\n  ", source, "\n  ");
  out.append(static_cast<size_t>(std::clamp<int64_t>(caret, 0, 200)), ' ');
  out += '^';
  if (!expected.empty()) StrAppend(&out, " expected ", expected);
  return out;
}

Diagnostic DiagnosticAt(std::string_view text, size_t position, std::string file,
                        std::string message, std::string expected) {
  position = std::min(position, text.size());
  size_t start = position == 0 ? std::string_view::npos : text.rfind('\n', position - 1);
  start = start == std::string_view::npos ? 0 : start + 1;
  Diagnostic diagnostic;
  diagnostic.file = std::move(file);
  diagnostic.line =
      1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(position), '\n');
  diagnostic.column = static_cast<int64_t>(position - start) + 1;
  diagnostic.message = std::move(message);
  diagnostic.expected = std::move(expected);
  diagnostic.source = SourceLine(text, start, position);
  return diagnostic;
}

absl::Status ToStatus(const std::vector<Diagnostic>& diagnostics) {
  std::string message;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!message.empty()) message += '\n';
    message += diagnostic.ToString();
  }
  return absl::InvalidArgumentError(message);
}

}  // namespace assay
