// Rows of benchmarks as one object per function.
#include "reports/site/accuracy.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "nlohmann/json.hpp"
#include "reports/site/site.h"

namespace assay {
namespace {

using Json = nlohmann::json;

constexpr char kPrefix[] = "ulp.";

// {"exp f32": {"worst": 0.9, ...}}; empty where the run measured no function.
Json FunctionsOf(const RunRow& run) {
  std::map<std::string, Json> functions;
  for (const BenchmarkRow& row : run.benchmarks) {
    if (row.metric.rfind(kPrefix, 0) != 0) continue;
    functions[row.name][row.metric.substr(sizeof(kPrefix) - 1)] = row.value;
  }
  Json list = Json::array();
  for (auto& [name, measures] : functions) list.push_back({name, std::move(measures)});
  return list;
}

}  // namespace

absl::Status WriteUlps(const std::vector<RunRow>& runs, DataFiles& files) {
  Json list = Json::array();
  std::set<std::pair<std::string, std::string>> shown;
  size_t bytes = 0;
  for (const RunRow& run : runs) {
    if (shown.count({run.backend, run.backend_version}) > 0) continue;
    Json functions = FunctionsOf(run);
    if (functions.empty()) continue;
    Json one = {{"run", run.id}, {"functions", std::move(functions)}};
    bytes += one.dump(-1, ' ', false, Json::error_handler_t::replace).size();
    if (bytes > static_cast<size_t>(kMostSiteBytes) * 3 / 4) break;
    shown.insert({run.backend, run.backend_version});
    list.push_back(std::move(one));
  }
  return files.Give("ulps", list.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace assay
