// The functions that compiled code may call: everything else is an unresolved symbol, and an error.
#pragma once

#include <string_view>

#include "absl/types/span.h"

namespace assay {

struct RuntimeSymbol {
  std::string_view name;
  void* address;
};
absl::Span<const RuntimeSymbol> RuntimeSymbols();

}  // namespace assay
