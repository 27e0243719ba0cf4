// The suite files that are built into the program (cmake/AssayEmbed.cmake writes the source).
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace assay {

// (file name, text)
const std::vector<std::pair<std::string_view, std::string_view>>& GoldenFiles();

}  // namespace assay
