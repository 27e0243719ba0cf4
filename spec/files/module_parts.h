// Files of several modules: HLO texts behind each other, most often between lines "// -----", as
// test files have them. FILE#PART is the path of one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace assay {

struct ModulePart {
  std::string name;  // that of the module, or its number where names are missing or taken
  size_t begin = 0;  // where it starts in the text, and where it ends
  size_t end = 0;
  int64_t lines_before = 0;  // so that errors keep their lines
};
// The modules of a text, in order; parts without a word outside comments are none.
std::vector<ModulePart> PartsOf(std::string_view text);

struct ModulePath {
  std::string file;
  std::string part;  // "" where the path names a file
};
ModulePath SplitModulePath(const std::string& path);

// `path`, or FILE#PART for each module of a file of several. A file that cannot be read is one: the
// error is for whoever reads it.
std::vector<std::string> ModulePathsOf(const std::string& path);

// The text of one part, behind as many empty lines as it had lines before it; with `part` "" that
// of the only one. not_found, which lists the parts, if there is no such part or there are several.
absl::StatusOr<std::string> PickPart(const std::string& path, std::string text,
                                     std::string_view part);

}  // namespace assay
