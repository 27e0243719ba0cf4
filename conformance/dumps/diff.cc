// A longest common subsequence of lines, after what both begin and end with has been set aside.
#include "conformance/dumps/diff.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_split.h"
#include "spec/base/strings.h"
#include "spec/text/writer.h"

namespace assay {
namespace {

// A table of so many entries is made; programs that differ in more lines are told apart by sets.
constexpr size_t kMostEntries = size_t{1} << 24;

struct Line {
  std::string text;
  std::string computation;  // that it is in
};

std::vector<Line> LinesOf(const Module& module) {
  WriteOptions options = WriteOptions::Long();
  options.metadata = false;
  std::vector<Line> lines;
  std::string computation;
  for (absl::string_view line : absl::StrSplit(WriteModule(module, options), '\n')) {
    const size_t start = line.find_first_not_of(' ');
    if (start == absl::string_view::npos) continue;
    if (start == 0 && line.back() == '{') computation = std::string(line.substr(0, line.find('(')));
    lines.push_back({std::string(line.substr(start)), computation});
  }
  return lines;
}

// The lines that both texts have in common, in the same order.
struct Common {
  std::vector<bool> before, after;
};

void MarkEqualSets(const std::vector<Line>& before, const std::vector<Line>& after,
                   Common& common) {
  absl::flat_hash_map<std::string, size_t> left;
  for (size_t i = 0; i < before.size(); ++i)
    if (!common.before[i]) ++left[before[i].text];
  absl::flat_hash_map<std::string, size_t> met;
  for (size_t j = 0; j < after.size(); ++j) {
    if (common.after[j]) continue;
    auto found = left.find(after[j].text);
    common.after[j] = found != left.end() && met[after[j].text]++ < found->second;
  }
  for (size_t i = 0; i < before.size(); ++i) {
    if (common.before[i]) continue;
    auto found = met.find(before[i].text);
    common.before[i] = found != met.end() && found->second > 0;
    if (common.before[i]) --found->second;
  }
}

void MarkSubsequence(const std::vector<Line>& before, const std::vector<Line>& after, size_t first,
                     size_t rows, size_t columns, Common& common) {
  std::vector<uint32_t> longest((rows + 1) * (columns + 1), 0);
  auto at = [&](size_t i, size_t j) -> uint32_t& { return longest[i * (columns + 1) + j]; };
  for (size_t i = rows; i-- > 0;) {
    for (size_t j = columns; j-- > 0;) {
      at(i, j) = before[first + i].text == after[first + j].text
                     ? at(i + 1, j + 1) + 1
                     : std::max(at(i + 1, j), at(i, j + 1));
    }
  }
  for (size_t i = 0, j = 0; i < rows && j < columns;) {
    if (before[first + i].text == after[first + j].text) {
      common.before[first + i++] = common.after[first + j++] = true;
    } else if (at(i + 1, j) >= at(i, j + 1)) {
      ++i;
    } else {
      ++j;
    }
  }
}

Common CommonLines(const std::vector<Line>& before, const std::vector<Line>& after) {
  Common common{std::vector<bool>(before.size()), std::vector<bool>(after.size())};
  size_t first = 0, last = 0;
  const size_t least = std::min(before.size(), after.size());
  while (first < least && before[first].text == after[first].text) {
    common.before[first] = common.after[first] = true;
    ++first;
  }
  while (last < least - first &&
         before[before.size() - 1 - last].text == after[after.size() - 1 - last].text) {
    ++last;
    common.before[before.size() - last] = common.after[after.size() - last] = true;
  }
  const size_t rows = before.size() - first - last, columns = after.size() - first - last;
  if (columns > 0 && rows > kMostEntries / columns) {
    MarkEqualSets(before, after, common);
  } else {
    MarkSubsequence(before, after, first, rows, columns, common);
  }
  return common;
}

}  // namespace

std::string DiffOf(const Module& before, const Module& after, size_t most) {
  const std::vector<Line> old_lines = LinesOf(before), new_lines = LinesOf(after);
  const Common common = CommonLines(old_lines, new_lines);
  std::string text, computation;
  size_t count = 0, left_out = 0;
  auto add = [&](const char* sign, const Line& line) {
    if (count >= most) {
      ++left_out;
      return;
    }
    if (line.computation != computation) StrAppend(&text, "@ ", line.computation, "\n");
    computation = line.computation;
    StrAppend(&text, sign, line.text, "\n");
    ++count;
  };
  for (size_t i = 0, j = 0; i < old_lines.size() || j < new_lines.size();) {
    if (i < old_lines.size() && !common.before[i]) {
      add("- ", old_lines[i++]);
    } else if (j < new_lines.size() && !common.after[j]) {
      add("+ ", new_lines[j++]);
    } else {
      ++i;
      ++j;
    }
  }
  if (left_out > 0) StrAppend(&text, "... and ", left_out, " lines more\n");
  return text;
}

}  // namespace assay
