// The text that `assay check` prints on programs that were cut.
#pragma once

#include <string>

#include "nlohmann/json_fwd.hpp"

namespace assay {

// One line from ToJson(CutReport): captures, elements, how many stay undecided.
std::string CutSummary(const nlohmann::json& cuts);
// One line on what random legal evaluations say of undecided elements; "" if nothing was asked.
std::string DrawSummary(const nlohmann::json& cuts);
// A line for every captured array and result, in the order of the program.
std::string StretchTable(const nlohmann::json& cuts);

}  // namespace assay
