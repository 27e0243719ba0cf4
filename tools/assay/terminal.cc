// Colours, tables and progress on a terminal.
#include "tools/assay/terminal.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "spec/base/clock.h"
#include "spec/base/escape.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

bool Coloured(int descriptor) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return isatty(descriptor) != 0 && (no_color == nullptr || *no_color == '\0') &&
         (term == nullptr || std::string_view(term) != "dumb");
}

const char* Escape(Style style) {
  switch (style) {
    case Style::kPlain:
      return "";
    case Style::kBold:
      return "\033[1m";
    case Style::kDim:
      return "\033[2m";
    case Style::kGood:
      return "\033[32m";
    case Style::kBad:
      return "\033[1;31m";
    case Style::kWarn:
      return "\033[33m";
    case Style::kAccent:
      return "\033[36m";
  }
  return "";
}

void AppendPadded(std::string& out, const std::string& cell, int64_t width, Table::Align align,
                  bool last) {
  std::string space(static_cast<size_t>(std::max<int64_t>(0, width - DisplayWidth(cell))), ' ');
  if (align == Table::kRight) out += space;
  out += cell;
  if (align == Table::kLeft && !last) out += space;
}

}  // namespace

std::string Styled(Style style, std::string_view text) {
  static const bool coloured = Coloured(STDOUT_FILENO);
  if (!coloured || style == Style::kPlain) return std::string(text);
  return StrCat(Escape(style), text, "\033[0m");
}

int64_t DisplayWidth(std::string_view text) {
  int64_t width = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned char c = static_cast<unsigned char>(text[i]);
    if (c == '\033') {
      while (i < text.size() && text[i] != 'm') ++i;
    } else if ((c & 0xC0) != 0x80) {
      ++width;
    }
  }
  return width;
}

std::string Table::ToString(int indent) const {
  std::vector<int64_t> widths;
  for (const Column& column : columns_) widths.push_back(DisplayWidth(column.title));
  for (const auto& row : rows_) {
    for (size_t c = 0; c < row.size() && c < widths.size(); ++c) {
      widths[c] = std::max(widths[c], DisplayWidth(row[c]));
    }
  }
  std::string out;
  auto line = [&](const std::vector<std::string>& cells) {
    out.append(static_cast<size_t>(indent), ' ');
    for (size_t c = 0; c < columns_.size(); ++c) {
      bool last = c + 1 == columns_.size();
      AppendPadded(out, c < cells.size() ? cells[c] : "", widths[c], columns_[c].align, last);
      if (!last) out += "   ";
    }
    while (!out.empty() && out.back() == ' ') out.pop_back();
    out += '\n';
  };
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(Styled(Style::kDim, column.title));
  line(titles);
  for (const auto& row : rows_) line(row);
  return out;
}

void ProgressLine::Show(const std::string& text) {
  static const bool terminal = isatty(STDERR_FILENO) != 0;
  if (!terminal) return;
  std::fprintf(stderr, "\r\033[K%s", Printable(text).c_str());
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::Clear() {
  if (!shown_) return;
  std::fprintf(stderr, "\r\033[K");
  std::fflush(stderr);
  shown_ = false;
}

StepProgress::StepProgress(std::string doing, size_t total)
    : doing_(std::move(doing)), total_(total), start_(Now()), last_line_(start_) {}

void StepProgress::Begin(const std::string& name) {
  constexpr double kHeartbeatSeconds = 30;
  const double now = Now(), elapsed = now - start_;
  std::string text = StrCat(doing_, " ", done_ + 1, " of ", total_, ": ", name);
  if (done_ > 0 && elapsed > 2) {
    const double each = elapsed / static_cast<double>(done_);
    StrAppend(&text, ", about ", Seconds(each * static_cast<double>(total_ - done_)), " left");
  }
  ++done_;
  if (isatty(STDERR_FILENO) != 0) {
    line_.Show(text);
  } else if (now - last_line_ >= kHeartbeatSeconds) {
    std::fprintf(stderr, "%s\n", Printable(text).c_str());
    last_line_ = now;
  }
}

namespace {

constexpr Style kStyles[] = {Style::kBold, Style::kDim,  Style::kGood,
                             Style::kBad,  Style::kWarn, Style::kAccent};
constexpr std::string_view kEndOfStyle = "\033[0m";

// The escape of a style at the beginning of the text; "" if there is none.
std::string_view StyleAt(std::string_view text) {
  if (text.starts_with(kEndOfStyle)) return kEndOfStyle;
  for (const Style style : kStyles) {
    if (text.starts_with(Escape(style))) return Escape(style);
  }
  return "";
}

// Printable, but for the escapes that Styled has put there.
std::string PrintableStyled(std::string_view text) {
  if (!Coloured(STDOUT_FILENO)) return Printable(text);
  std::string out;
  while (!text.empty()) {
    const std::string_view style = StyleAt(text);
    if (!style.empty()) {
      out.append(style);
      text.remove_prefix(style.size());
      continue;
    }
    const size_t next = std::min(text.find('\033', 1), text.size());
    out += Printable(text.substr(0, next));
    text.remove_prefix(next);
  }
  return out;
}

// The error number of the first write to standard output that failed; 0: none has.
int output_error = 0;

}  // namespace

void PrintBytes(std::string_view bytes) {
  errno = 0;
  const bool is_written = std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size();
  if (!is_written && output_error == 0) output_error = errno != 0 ? errno : EIO;
}

void Print(std::string_view text) {
  std::string shown = PrintableStyled(text);
  if (shown.empty() || shown.back() != '\n') shown += '\n';
  PrintBytes(shown);
}

void FlushOutput() {
  errno = 0;
  const bool is_written = std::fflush(stdout) == 0;
  if (!is_written && output_error == 0) output_error = errno != 0 ? errno : EIO;
}

absl::Status OutputStatus() {
  FlushOutput();
  if (output_error == 0 && std::ferror(stdout) != 0) output_error = EIO;
  if (output_error == 0) return absl::OkStatus();
  return absl::UnavailableError(
      StrCat("standard output cannot be written: ", std::strerror(output_error)));
}

void OpenStandardStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0) continue;
    // The lowest number that is free is the one that is missing.
    const int flags = stream == STDERR_FILENO ? O_WRONLY : O_RDONLY;
    if (open("/dev/null", flags) != stream) return;
  }
}

void PrintError(std::string_view message) {
  FlushOutput();
  const bool coloured = Coloured(STDERR_FILENO);
  const std::string text = StrCat(coloured ? "\033[1;31m" : "", "error:", coloured ? "\033[0m" : "",
                                  " ", Printable(message), "\n");
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace assay
