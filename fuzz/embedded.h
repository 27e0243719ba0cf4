// Data files of this room, compiled in, so that the program needs no data folder: the planted
// defects and the workers.
#pragma once

#include <string_view>
#include <vector>

#include "absl/types/span.h"

namespace assay {

struct Embedded {
  std::string_view name;  // of the file, without folder
  std::string_view content;
};
// By name.
absl::Span<const Embedded> EmbeddedFiles();
// "" if there is none of that name.
std::string_view EmbeddedFile(std::string_view name);

}  // namespace assay
