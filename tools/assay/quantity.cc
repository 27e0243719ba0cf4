// Numbers with units.
#include "tools/assay/quantity.h"

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr double kLongestSeconds = 366.0 * 24 * 3600;
constexpr double kMostBytes = static_cast<double>(int64_t{1} << 62);

// The number at the beginning and what follows it; NaN where there is no plain decimal number.
std::pair<double, std::string> SplitUnit(const std::string& text) {
  const bool begins =
      !text.empty() && (std::isdigit(static_cast<unsigned char>(text[0])) != 0 || text[0] == '.');
  if (!begins || text.starts_with("0x") || text.starts_with("0X")) return {std::nan(""), text};
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str()) return {std::nan(""), text};
  return {value, end};
}

}  // namespace

absl::StatusOr<double> ParseDuration(const std::string& text) {
  const auto [value, unit] = SplitUnit(text);
  const double scale = unit == "ms"                  ? 1e-3
                       : unit.empty() || unit == "s" ? 1
                       : unit == "m"                 ? 60
                       : unit == "h"                 ? 3600
                                                     : std::nan("");
  const double seconds = value * scale;
  if (seconds > 0 && seconds <= kLongestSeconds) return seconds;
  if (seconds > kLongestSeconds) {
    return absl::InvalidArgumentError(StrCat("'", text, "' is longer than a year"));
  }
  return absl::InvalidArgumentError(
      StrCat("'", text, "' is not a time; write 500ms, 30s, 10m or 1.5h"));
}

absl::StatusOr<int64_t> ParseByteCount(const std::string& text) {
  auto [value, unit] = SplitUnit(text);
  if (unit.ends_with("iB")) {
    unit.resize(unit.size() - 2);
  } else if (unit.ends_with("B")) {
    unit.resize(unit.size() - 1);
  }
  constexpr std::string_view kUnits = "KMGT";
  double bytes = value;
  if (!unit.empty()) {
    const size_t at = kUnits.find(static_cast<char>(std::toupper(unit[0])));
    const bool is_known = unit.size() == 1 && at != std::string_view::npos;
    bytes = is_known ? std::ldexp(value, 10 * (static_cast<int>(at) + 1)) : std::nan("");
  }
  if (bytes >= 1 && bytes < kMostBytes) return static_cast<int64_t>(bytes);
  if (bytes >= kMostBytes) {
    return absl::InvalidArgumentError(StrCat("'", text, "' is more than any machine has"));
  }
  return absl::InvalidArgumentError(
      StrCat("'", text, "' is not a number of bytes; write 512M, 8G or 1T"));
}

}  // namespace assay
