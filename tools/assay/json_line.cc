// One JSON object per line.
#include "tools/assay/json_line.h"

#include "nlohmann/json.hpp"
#include "tools/assay/terminal.h"

namespace assay {

std::string JsonText(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void PrintJson(const nlohmann::json& value) {
  Print(JsonText(value));
  FlushOutput();
}

}  // namespace assay
