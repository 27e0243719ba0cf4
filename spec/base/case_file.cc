// Reading and editing of case files, line by line.
#include "spec/base/case_file.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "absl/strings/str_split.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr std::string_view kBeginsCase = "== ";

std::string_view WithoutBlanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

bool IsKeyCharacter(char c, bool is_first) {
  if (c >= 'a' && c <= 'z') return true;
  return !is_first && ((c >= '0' && c <= '9') || c == '-' || c == '_');
}

// Takes "KEY:" or "KEY[7]:" off the front of `line`; false if it does not begin so.
bool TakeKey(std::string_view& line, CaseField& field) {
  size_t at = 0;
  while (at < line.size() && IsKeyCharacter(line[at], at == 0)) ++at;
  const size_t key_size = at;
  if (key_size == 0) return false;
  if (at < line.size() && line[at] == '[') {
    const char* end_of_line = line.data() + line.size();
    const auto [end, error] = std::from_chars(line.data() + at + 1, end_of_line, field.index);
    if (error != std::errc() || field.index < 0 || end == end_of_line || *end != ']') return false;
    at = static_cast<size_t>(end - line.data()) + 1;
  }
  if (at >= line.size() || line[at] != ':') return false;
  field.key = std::string(line.substr(0, key_size));
  line.remove_prefix(at + 1);
  return true;
}

// Drops blank lines at the end.
void TrimEnd(std::string& text) {
  while (text.size() >= 2 && text.compare(text.size() - 2, 2, "\n\n") == 0) text.pop_back();
}

class CaseReader {
 public:
  CaseReader(std::string_view file, absl::Span<const std::string_view> keys)
      : file_(file), keys_(keys) {}

  absl::StatusOr<std::vector<CaseBlock>> Read(std::string_view text) {
    for (absl::string_view piece : absl::StrSplit(ToAbsl(text), '\n')) {
      ++line_;
      std::string_view line = ToStd(piece);
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      ASSAY_RETURN_IF_ERROR(Line(line));
    }
    for (CaseBlock& block : blocks_) {
      TrimEnd(block.text);
      for (CaseField& field : block.fields) TrimEnd(field.text);
    }
    return std::move(blocks_);
  }

 private:
  absl::Status Error(std::string_view message) const { return CaseError(file_, line_, message); }

  // "row: expect: in:"
  std::string Keys() const {
    std::string keys = "row:";
    for (std::string_view key : keys_) StrAppend(&keys, " ", key, ":");
    return keys;
  }

  absl::Status Line(std::string_view line) {
    if (!line.empty() && line.front() == '#') return absl::OkStatus();
    if (line.substr(0, kBeginsCase.size()) == kBeginsCase) {
      return Begin(WithoutBlanks(line.substr(kBeginsCase.size())));
    }
    const bool is_blank = WithoutBlanks(line).empty();
    if (blocks_.empty()) {
      return is_blank ? absl::OkStatus() : Error("expected a case: == NAME");
    }
    CaseField field;
    if (TakeKey(line, field)) return Field(std::move(field), line);
    return Text(line, is_blank);
  }

  absl::Status Begin(std::string_view name) {
    if (name.empty()) return Error("expected a name: == NAME");
    const auto [at, is_new] = names_.emplace(name, line_);
    if (!is_new) {
      return Error(StrCat("a second case '", name, "'; the first one begins in line ", at->second));
    }
    CaseBlock& block = blocks_.emplace_back();
    block.name = std::string(name);
    block.line = line_;
    text_has_ended_ = false;
    return absl::OkStatus();
  }

  absl::Status Field(CaseField field, std::string_view value) {
    if (field.key != "row" && std::find(keys_.begin(), keys_.end(), field.key) == keys_.end()) {
      return Error(StrCat("unknown key '", field.key, ":'; the keys here are ", Keys()));
    }
    CaseBlock& block = blocks_.back();
    if (!block.text.empty()) text_has_ended_ = true;
    field.value = std::string(WithoutBlanks(value));
    field.line = field.last_line = line_;
    block.fields.push_back(std::move(field));
    return absl::OkStatus();
  }

  absl::Status Text(std::string_view line, bool is_blank) {
    CaseBlock& block = blocks_.back();
    if (!block.fields.empty() && block.fields.back().value.empty()) {
      CaseField& field = block.fields.back();
      if (is_blank && field.text.empty()) return absl::OkStatus();
      StrAppend(&field.text, line, "\n");
      if (!is_blank) field.last_line = line_;
      return absl::OkStatus();
    }
    if (is_blank && (block.text.empty() || text_has_ended_)) return absl::OkStatus();
    if (text_has_ended_) {
      return Error(StrCat("the text of case '", block.name, "' ended above: expected one of ",
                          Keys(), ", or the next case"));
    }
    if (block.text.empty()) block.text_line = line_;
    StrAppend(&block.text, line, "\n");
    return absl::OkStatus();
  }

  std::string_view file_;
  absl::Span<const std::string_view> keys_;
  int64_t line_ = 0;
  bool text_has_ended_ = false;  // of the last block: a field came after its text
  std::vector<CaseBlock> blocks_;
  std::map<std::string, int64_t, std::less<>> names_;
};

}  // namespace

const CaseField* CaseBlock::Find(std::string_view key) const {
  for (const CaseField& field : fields) {
    if (field.key == key) return &field;
  }
  return nullptr;
}

std::string_view CaseBlock::Value(std::string_view key) const {
  const CaseField* field = Find(key);
  return field == nullptr ? std::string_view() : std::string_view(field->value);
}

std::vector<std::string> CaseBlock::Words(std::string_view key) const {
  std::vector<std::string> words;
  for (const CaseField& field : fields) {
    if (field.key != key) continue;
    for (absl::string_view word : absl::StrSplit(field.value, ' ', absl::SkipEmpty()))
      words.emplace_back(word);
  }
  return words;
}

absl::StatusOr<std::vector<CaseBlock>> ParseCases(std::string_view file, std::string_view text,
                                                  absl::Span<const std::string_view> keys) {
  return CaseReader(file, keys).Read(text);
}

absl::StatusOr<std::string> ReadCaseText(const std::string& path) {
  constexpr uintmax_t kMostBytes = uintmax_t{64} << 20;
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return absl::NotFoundError(StrCat(path, ": ", error.message()));
  if (size > kMostBytes) {
    return absl::InvalidArgumentError(
        StrCat(path, ": a case file has at most 64 MiB, this one ", size, " bytes; divide it"));
  }
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in.good() && !in.eof()) return absl::NotFoundError(StrCat(path, ": cannot be read"));
  return text.str();
}

absl::Status CaseError(std::string_view file, int64_t line, std::string_view message) {
  return absl::InvalidArgumentError(StrCat(file, ":", line, ": ", message));
}

void CaseEdits::SetValue(const CaseField& field, std::string_view value) {
  const std::string index = field.index == CaseField::kNoIndex ? "" : StrCat("[", field.index, "]");
  edits_.push_back({field.line, field.last_line, StrCat(field.key, index, ": ", value, "\n")});
}

void CaseEdits::SetText(const CaseField& field, std::string_view text) {
  std::string lines = StrCat(field.key, ":\n", text);
  if (lines.back() != '\n') lines.push_back('\n');
  edits_.push_back({field.line, field.last_line, std::move(lines)});
}

std::string CaseEdits::Apply(std::string_view file_text) const {
  std::map<int64_t, const Edit*> at_line;
  for (const Edit& edit : edits_) at_line[edit.first] = &edit;
  std::string out;
  int64_t line = 0, copied_from = 1;  // lines before `copied_from` are replaced ones
  for (size_t begin = 0; begin < file_text.size();) {
    ++line;
    const size_t end = std::min(file_text.find('\n', begin), file_text.size() - 1) + 1;
    const auto edit = at_line.find(line);
    if (edit != at_line.end() && line >= copied_from) {
      out += edit->second->text;
      copied_from = edit->second->last + 1;
    }
    if (line >= copied_from) out += file_text.substr(begin, end - begin);
    begin = end;
  }
  return out;
}

bool BlessIsWanted() {
  const char* wanted = std::getenv("ASSAY_BLESS");
  return wanted != nullptr && std::string_view(wanted) == "1";
}

}  // namespace assay
