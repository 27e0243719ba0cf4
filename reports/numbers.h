// Numbers as people read them, in terminals and on pages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

std::string Grouped(int64_t value);                   // 1,234,567
std::string Percent(double part, double whole);       // "12.3 %"; "-" of nothing
std::string Seconds(double seconds);                  // "0.4 ms", "12.3 s", "3 min 20 s"
std::string Count(int64_t n, std::string_view noun);  // "1 module", "3 modules"
std::string UtcTime(int64_t ms);                      // 2026-11-21 07:12 UTC

}  // namespace assay
