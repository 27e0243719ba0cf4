// The suite files that are built into the program (cmake/AssayEmbed.cmake writes the source).
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace assay {

// (file name, text)
const std::vector<std::pair<std::string_view, std::string_view>>& GoldenFiles();
// waivers.json alone: modules of the corpus by name, with the proof that the stored answer is
// wrong.
const std::vector<std::pair<std::string_view, std::string_view>>& WaiverFiles();

}  // namespace assay
