// One JSON object per line on standard output: what --json means for every verb (docs/json.md).
#pragma once

#include "nlohmann/json_fwd.hpp"

namespace assay {

// Text that is not UTF-8 is replaced, never an error. Flushed, so that a reader sees it at once.
void PrintJson(const nlohmann::json& value);
std::string JsonText(const nlohmann::json& value);

}  // namespace assay
