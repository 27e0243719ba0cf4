// A module as a graph that shows how much of the allowed bound each captured value used.
#pragma once

#include <string>

#include "nlohmann/json_fwd.hpp"
#include "spec/ir/module.h"

namespace assay {

// `cuts`: ToJson(CutReport) of a run of the module. From green (nothing of the bound was used) over
// yellow to orange (all of it); violet where elements stay undecided; red what is wrong, with the
// stretch that leads there in red frames. In DOT.
std::string CutGraph(const Module& module, const nlohmann::json& cuts);

}  // namespace assay
