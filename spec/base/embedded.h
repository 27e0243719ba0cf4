// Files that are built into a program (cmake/AssayEmbed.cmake writes the sources), so that it needs
// no data folder.
#pragma once

#include <string_view>

namespace assay {

struct Embedded {
  std::string_view name;  // of the file, without folder
  std::string_view content;
};

}  // namespace assay
