// Reads typed options out of the backend_config of a custom call.
#include "reference/custom_calls/call_options.h"

#include <charconv>

#include "spec/base/strings.h"

namespace assay::reference {

std::optional<std::string_view> FindOption(const OpContext& op, std::string_view key) {
  const std::string_view config = op.instruction.attributes().String(Attr::kBackendConfig);
  const std::string start = StrCat(key, " = ");
  for (size_t at = config.find(start); at != std::string_view::npos;
       at = config.find(start, at + 1)) {
    const bool whole_word = at == 0 || config[at - 1] == '{' || config[at - 1] == ' ';
    if (whole_word) return config.substr(at + start.size());
  }
  return std::nullopt;
}

std::optional<int64_t> ConfigInteger(const OpContext& op, std::string_view key) {
  const std::optional<std::string_view> text = FindOption(op, key);
  if (!text.has_value()) return std::nullopt;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end == text->data()) return std::nullopt;
  return value;
}

bool HasOption(const OpContext& op, std::string_view key, char letter) {
  return ConfigInteger(op, key).value_or(0) == letter;
}

bool HasFlag(const OpContext& op, std::string_view key) {
  return FindOption(op, key).value_or("").starts_with("true");
}

}  // namespace assay::reference
