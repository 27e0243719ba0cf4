#include "spec/text/diagnostic.h"

#include <algorithm>

#include "spec/base/strings.h"

namespace assay {

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

absl::Status ToStatus(const std::vector<Diagnostic>& diagnostics) {
  std::string message;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!message.empty()) message += '\n';
    message += diagnostic.ToString();
  }
  return absl::InvalidArgumentError(message);
}

}  // namespace assay
