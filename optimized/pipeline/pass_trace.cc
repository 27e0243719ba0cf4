// Records passes, and carries the records through the statistics of an executable.
#include "optimized/pipeline/pass_trace.h"

#include <cstdio>

#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr std::string_view kPrefix = "pass.";
constexpr size_t kNumberDigits = 3;  // keys in the order of running are in the order of the map

}  // namespace

void PassTrace::Note(std::string_view pass, bool changed) {
  const auto now = std::chrono::steady_clock::now();
  const double seconds = std::chrono::duration<double>(now - last_).count();
  records_.push_back({std::string(pass), changed, gates_.count() - seen_, seconds});
  NameReasons(pass);
  seen_ = gates_.count();
  last_ = std::chrono::steady_clock::now();
}

void PassTrace::NameReasons(std::string_view pass) {
  for (auto reason = reasons_.rbegin(); reason != reasons_.rend(); ++reason) {
    if (!reason->pass.empty()) break;
    reason->pass = pass;
  }
}

void AddStatistics(const std::vector<PassRecord>& records,
                   std::map<std::string, double>& statistics) {
  for (size_t k = 0; k < records.size(); ++k) {
    char number[32];
    std::snprintf(number, sizeof(number), "%0*zu", static_cast<int>(kNumberDigits), k);
    const std::string key = StrCat(kPrefix, number, ".", records[k].pass);
    statistics[key + ".changed"] = records[k].changed ? 1 : 0;
    statistics[key + ".decisions"] = static_cast<double>(records[k].decisions);
    statistics[key + ".seconds"] = records[k].seconds;
  }
}

std::vector<PassRecord> PassRecordsOf(const std::map<std::string, double>& statistics) {
  std::vector<PassRecord> records;
  const std::string ends = ".changed";
  for (auto at = statistics.lower_bound(std::string(kPrefix)); at != statistics.end(); ++at) {
    if (at->first.compare(0, kPrefix.size(), kPrefix) != 0) break;
    if (!at->first.ends_with(ends)) continue;
    const std::string key = at->first.substr(0, at->first.size() - ends.size());
    const size_t name = kPrefix.size() + kNumberDigits + 1;
    if (key.size() <= name) continue;
    const auto value = [&](const char* field) {
      const auto found = statistics.find(key + field);
      return found == statistics.end() ? 0.0 : found->second;
    };
    records.push_back({key.substr(name), at->second != 0, static_cast<int64_t>(value(".decisions")),
                       value(".seconds")});
  }
  return records;
}

}  // namespace assay
