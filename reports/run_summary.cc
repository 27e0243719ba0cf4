// A summary is what a program wrote: hostile until it was looked at.
#include "reports/run_summary.h"

namespace assay {

nlohmann::json SummaryOf(const RunRow& run) {
  nlohmann::json json = nlohmann::json::parse(run.summary, nullptr, false);
  return json.is_object() ? json : nlohmann::json::object();
}

std::string Word(const nlohmann::json& json, const char* key) {
  const auto at = json.find(key);
  return at != json.end() && at->is_string() ? at->get<std::string>() : "";
}

double Number(const nlohmann::json& json, const char* key) {
  const auto at = json.find(key);
  return at != json.end() && at->is_number() ? at->get<double>() : 0;
}

}  // namespace assay
