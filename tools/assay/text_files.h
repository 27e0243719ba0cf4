// Texts that verbs write into files, compiled in.
#pragma once

#include <string_view>

#include "absl/types/span.h"
#include "spec/base/embedded.h"

namespace assay {

absl::Span<const Embedded> TextFiles();

// "" if there is none of that name.
inline std::string_view TextFile(std::string_view name) {
  for (const Embedded& file : TextFiles()) {
    if (file.name == name) return file.content;
  }
  return "";
}

}  // namespace assay
