// Writing for people: colour and progress on a terminal only, aligned tables, numbers that can be
// read.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "reports/numbers.h"

namespace assay {

enum class Style : uint8_t { kPlain, kBold, kDim, kGood, kBad, kWarn, kAccent };

// `text` in the style, or as it is when standard output is not a terminal (or NO_COLOR is set).
std::string Styled(Style style, std::string_view text);
// Columns that `text` takes on a screen: escape sequences take none, a UTF-8 character one.
int64_t DisplayWidth(std::string_view text);

// A table whose columns are as wide as they need to be. Cells may be styled.
class Table {
 public:
  enum Align : uint8_t { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = kLeft;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }
  // Every line indented by `indent` spaces.
  std::string ToString(int indent = 2) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// One line on the terminal that is written over and over; nothing when standard error is not a
// terminal.
class ProgressLine {
 public:
  ~ProgressLine() { Clear(); }
  void Show(const std::string& text);
  void Clear();

 private:
  bool shown_ = false;
};

// The progress of a run over a known number of things, on stderr: a line that changes on a
// terminal; elsewhere a line of its own now and then, so that a log shows that the run is alive.
class StepProgress {
 public:
  // `doing`: "checking".
  StepProgress(std::string doing, size_t total);
  // Before each: how far the run is, and about how long the rest takes.
  void Begin(const std::string& name);
  void Clear() { line_.Clear(); }

 private:
  const std::string doing_;
  const size_t total_;
  size_t done_ = 0;
  double start_, last_line_;
  ProgressLine line_;
};

// To standard output, with a newline. What would command the terminal stands there as text
// (Printable), but for the styles of Styled.
void Print(std::string_view text);
void PrintBytes(std::string_view bytes);    // as they are: a file that standard output is
void PrintError(std::string_view message);  // "error: ..." to standard error, printable
void FlushOutput();

// An error if not all that was printed has been written: a full disk is no success. It says why.
absl::Status OutputStatus();
// Opens what the caller of the program closed of the standard streams, so that no file that is
// opened later takes their place: reading finds nothing, writing to standard output fails.
void OpenStandardStreams();

}  // namespace assay
