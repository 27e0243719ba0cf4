// Finds where modules begin in a text, line by line, without reading them.
#include "spec/files/module_parts.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "spec/base/file.h"
#include "spec/base/strings.h"
#include "spec/proto/module_proto.h"

namespace assay {
namespace {

constexpr std::string_view kSeparator = "// -----";
constexpr std::string_view kHeader = "HloModule";

// The name behind HloModule at the beginning of a line; "" for other lines.
std::string_view HeaderName(std::string_view line) {
  if (!line.starts_with(kHeader)) return "";
  line.remove_prefix(kHeader.size());
  const size_t start = line.find_first_not_of(" \t%");
  if (start == 0 || start == std::string_view::npos) return "";
  line.remove_prefix(start);
  return line.substr(0, line.find_first_of(", \t\r:"));
}

bool SaysNothing(std::string_view line) {
  const size_t start = line.find_first_not_of(" \t\r");
  return start == std::string_view::npos || line.substr(start).starts_with("//");
}

}  // namespace

std::vector<ModulePart> PartsOf(std::string_view text) {
  std::vector<ModulePart> parts;
  ModulePart current;
  bool has_words = false, has_header = false;
  int64_t lines = 0;
  const auto finish = [&](size_t end) {
    current.end = end;
    if (has_words) parts.push_back(current);
    current = {"", end, end, lines};
    has_words = has_header = false;
  };
  for (size_t at = 0; at < text.size(); ++lines) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    const std::string_view name = HeaderName(line);
    // A second header begins a module without a line between, too.
    if (line.starts_with(kSeparator) || (!name.empty() && has_header)) finish(at);
    if (!name.empty()) {
      has_header = true;
      current.name = std::string(name);
    }
    has_words = has_words || !SaysNothing(line);
    at = end + 1;
  }
  finish(text.size());
  std::map<std::string, int> count;
  for (const ModulePart& part : parts) ++count[part.name];
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].name.empty() || count[parts[i].name] > 1) parts[i].name = StrCat(i + 1);
  }
  return parts;
}

ModulePath SplitModulePath(const std::string& path) {
  const size_t mark = path.rfind('#');
  std::error_code error;
  if (mark == std::string::npos || std::filesystem::exists(path, error)) return {path, ""};
  return {path.substr(0, mark), path.substr(mark + 1)};
}

std::vector<std::string> ModulePathsOf(const std::string& path) {
  if (!SplitModulePath(path).part.empty()) return {path};
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return {path};
  const absl::StatusOr<std::string> content = ReadFile(path);
  if (!content.ok() || LooksBinary(*content)) return {path};
  const std::vector<ModulePart> parts = PartsOf(*content);
  if (parts.size() < 2) return {path};
  std::vector<std::string> paths;
  for (const ModulePart& part : parts) paths.push_back(StrCat(path, "#", part.name));
  return paths;
}

absl::StatusOr<std::string> PickPart(const std::string& path, std::string text,
                                     std::string_view part) {
  const std::vector<ModulePart> parts = PartsOf(text);
  if (part.empty() && parts.size() < 2) return text;
  for (const ModulePart& one : parts) {
    if (part.empty() || one.name != part) continue;
    return std::string(static_cast<size_t>(one.lines_before), '\n') +
           text.substr(one.begin, one.end - one.begin);
  }
  std::string names;
  constexpr size_t kMost = 12;
  for (size_t i = 0; i < std::min(parts.size(), kMost); ++i)
    StrAppend(&names, i == 0 ? "" : ", ", path, "#", parts[i].name);
  if (parts.size() > kMost) names += ", ...";
  return absl::NotFoundError(StrCat(
      path, " holds ", parts.size(), parts.size() == 1 ? " module" : " modules",
      part.empty() ? "; name one: " : StrCat(", none called ", part, "; name one: "), names));
}

}  // namespace assay
