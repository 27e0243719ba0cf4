// The one grammar in which tests and suites write their cases, its reader, and the edits that put
// computed values into such a file.
//
//   # comment          a line that begins with '#', anywhere
//   == NAME            begins a case; a name is used once in a file
//   KEY: VALUE         a field of the case; KEY[3]: VALUE is a field with an index
//   KEY:               a field with text: the lines below it up to the next field or case
//   any other line     text: of the field above if that has no value, otherwise of the case itself,
//                      whose text stands in one piece
//
// A KEY is a word of small letters, digits, '-' and '_'. The readers of a file say which keys it
// has; any other is an error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace assay {

struct CaseField {
  static constexpr int64_t kNoIndex = -1;

  std::string key;
  int64_t index = kNoIndex;
  std::string value;  // behind the colon, without blanks at its ends
  std::string text;   // the lines below the key, each with its line end
  // Lines of the file, counted from 1: that of the key, and the last one of the text.
  int64_t line = 0;
  int64_t last_line = 0;
};

struct CaseBlock {
  std::string name;
  int64_t line = 0;
  std::string text;
  int64_t text_line = 0;          // the first line of the text; 0 without text
  std::vector<CaseField> fields;  // in the order of the file

  // The first field called `key`, or nullptr.
  const CaseField* Find(std::string_view key) const;
  // Its value, or "" without such a field.
  std::string_view Value(std::string_view key) const;
  // The words of all fields called `key`.
  std::vector<std::string> Words(std::string_view key) const;
};

// The cases of `text`. `keys` are the legal keys beside "row", which every file may have (it lists
// sentences of the documents for tools/coverage). Errors begin with "FILE:LINE: ".
absl::StatusOr<std::vector<CaseBlock>> ParseCases(std::string_view file, std::string_view text,
                                                  absl::Span<const std::string_view> keys);

// The content of the file at `path`, at most 64 MiB of it. Errors name the path.
absl::StatusOr<std::string> ReadCaseText(const std::string& path);

// An error of the form that ParseCases gives, for what a reader finds in a field or block.
absl::Status CaseError(std::string_view file, int64_t line, std::string_view message);

// New values for fields of one file. Apply gives the edited text; what is not edited, comments
// included, stays byte for byte.
class CaseEdits {
 public:
  void SetValue(const CaseField& field, std::string_view value);
  void SetText(const CaseField& field, std::string_view text);
  bool empty() const { return edits_.empty(); }
  int64_t size() const { return static_cast<int64_t>(edits_.size()); }
  std::string Apply(std::string_view file_text) const;

 private:
  struct Edit {
    int64_t first, last;  // lines that are replaced
    std::string text;     // what stands there instead
  };
  std::vector<Edit> edits_;
};

// True if the environment says ASSAY_BLESS=1: tests then write what they computed into their case
// files (fields `expect:`, `after:`, `out:`) in place of comparing.
bool BlessIsWanted();

}  // namespace assay
