// Colours, tables and progress on a terminal.
#include "tools/assay/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "spec/base/clock.h"
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
  std::fprintf(stderr, "\r\033[K%s", text.c_str());
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
    std::fprintf(stderr, "%s\n", text.c_str());
    last_line_ = now;
  }
}

void Print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (text.empty() || text.back() != '\n') std::fputc('\n', stdout);
}

void PrintError(std::string_view message) {
  std::fflush(stdout);
  const bool coloured = Coloured(STDERR_FILENO);
  std::fprintf(stderr, "%serror:%s %.*s\n", coloured ? "\033[1;31m" : "", coloured ? "\033[0m" : "",
               static_cast<int>(message.size()), message.data());
}

}  // namespace assay
