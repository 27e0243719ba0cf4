// The planted defects: data in fuzz/defects/, compiled in. The format is that of Defect
// (optimized/defects/defect.h), which the compiler reads from CompileOptions::defect; here only
// what people and campaigns ask of one is looked at.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace assay {

struct PlantedDefect {
  std::string name;     // of the file, without extension
  std::string summary;  // one sentence: what goes wrong
  std::string gate;     // rule of the decision that it bends: the right answer of blame
  std::string kind;     // of that decision
  std::string op;       // operator
  std::string json;     // for CompileOptions::defect
};

// By name.
const std::vector<PlantedDefect>& PlantedDefects();
// An error that lists the names when there is no such defect.
absl::StatusOr<PlantedDefect> FindDefect(std::string_view name);

}  // namespace assay
