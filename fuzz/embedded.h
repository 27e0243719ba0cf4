// Data files of this room, compiled in, so that the program needs no data folder: the planted
// defects and the workers.
#pragma once

#include <string_view>

#include "absl/types/span.h"
#include "spec/base/embedded.h"

namespace assay {

absl::Span<const Embedded> EmbeddedFiles();

// "" if there is none of that name.
inline std::string_view EmbeddedFile(std::string_view name) {
  for (const Embedded& file : EmbeddedFiles()) {
    if (file.name == name) return file.content;
  }
  return "";
}

}  // namespace assay
