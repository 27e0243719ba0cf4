// Numbers, percentages, times and plurals as text.
#include "reports/numbers.h"

#include <cmath>
#include <ctime>

#include "absl/strings/str_format.h"
#include "spec/base/strings.h"

namespace assay {

std::string Grouped(int64_t value) {
  std::string digits = std::to_string(value);
  size_t first = digits[0] == '-' ? 1 : 0;
  for (size_t i = digits.size(); i > first + 3;) {
    i -= 3;
    digits.insert(i, 1, ',');
  }
  return digits;
}

std::string Percent(double part, double whole) {
  if (whole == 0) return "-";
  return absl::StrFormat("%.1f %%", 100 * part / whole);
}

std::string Seconds(double seconds) {
  if (seconds < 1e-3) return absl::StrFormat("%.0f µs", seconds * 1e6);
  if (seconds < 1) return absl::StrFormat("%.1f ms", seconds * 1e3);
  if (seconds < 120) return absl::StrFormat("%.1f s", seconds);
  int64_t whole = std::llround(seconds);
  return absl::StrFormat("%d min %d s", whole / 60, whole % 60);
}

std::string Count(int64_t n, std::string_view noun) {
  return StrCat(Grouped(n), " ", noun, n == 1 ? "" : "s");
}

std::string UtcTime(int64_t ms) {
  std::time_t seconds = static_cast<std::time_t>(ms / 1000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return absl::StrFormat("%04d-%02d-%02d %02d:%02d UTC", parts.tm_year + 1900, parts.tm_mon + 1,
                         parts.tm_mday, parts.tm_hour, parts.tm_min);
}

}  // namespace assay
