// Splits options.
#include "fuzz/backends/flag_options.h"

#include "absl/strings/str_split.h"
#include "spec/base/strings.h"

namespace assay {

bool IsXlaFlag(std::string_view name) { return name.rfind("xla_", 0) == 0; }

std::vector<std::pair<std::string, std::string>> SplitFlagOptions(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> options;
  const std::vector<std::string> parts = absl::StrSplit(text, ',', absl::SkipEmpty());
  for (std::string_view part : parts) {
    while (!part.empty() && part.front() == '-') part.remove_prefix(1);  // as XLA spells them
    const size_t equals = part.find('=');
    const bool is_named = equals != std::string_view::npos || IsXlaFlag(part);
    if (!is_named && !options.empty() && IsXlaFlag(options.back().first)) {
      StrAppend(&options.back().second, ",", part);
      continue;
    }
    options.emplace_back(part.substr(0, equals), equals == std::string_view::npos
                                                     ? std::string("true")
                                                     : std::string(part.substr(equals + 1)));
  }
  return options;
}

}  // namespace assay
