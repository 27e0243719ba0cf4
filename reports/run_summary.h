// Fields of the summary that a run left in the store; what is missing or of another type is empty.
#pragma once

#include <string>

#include "nlohmann/json.hpp"
#include "reports/store.h"

namespace assay {

// An empty object if it cannot be read.
nlohmann::json SummaryOf(const RunRow& run);

// A text, or "".
std::string Word(const nlohmann::json& json, const char* key);

// A number, or 0.
double Number(const nlohmann::json& json, const char* key);

}  // namespace assay
