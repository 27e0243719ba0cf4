// The planted defects: data in fuzz/defects/, compiled in, one file for each class with a list of
// them: {"class": "orders", "backend": "cpu", "defects": [...]}, and those of the templates of
// kernels for GPUs (optimized/gpu/testdata/template_defects.txt). The format of one is that of
// Defect (optimized/defects/defect.h), which the compiler reads from CompileOptions::defect, and a
// field "passes" where the compiler must run others than by default; here only what people and
// campaigns ask of one is looked at.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace assay {

struct PlantedDefect {
  std::string name;
  std::string of_class;  // "orders"
  std::string backend;   // that it can bite on, with options that it needs: "gpu-sim"; "": any
  std::string summary;   // one sentence: what goes wrong
  std::string gate;      // rule of the decision that it bends: the right answer of blame
  std::string kind;      // of that decision
  std::string op;        // operator
  std::string json;      // for CompileOptions::defect
  std::string passes;    // "all": its gate is asked only where every pass runs; mostly empty
  bool guarded = false;  // bites only at some values or attributes
};

// The verdict of people on a defect that a published run did not kill (survivors.json).
struct Survivor {
  std::string reason;  // "equivalent", "invisible", "not generated", "masked"
  std::string text;
};

// The survivors that somebody has looked at, by the name of the defect.
const std::map<std::string, Survivor>& Survivors();
// By name.
const std::vector<PlantedDefect>& PlantedDefects();
// True if it can bite on a backend: "gpu-sim:seed=5" is one for defects of "gpu-sim", and not for
// those of "gpu-sim:libraries=on".
bool IsFor(const PlantedDefect& defect, std::string_view backend);
// The backend with the passes that the defect wants.
std::string BackendFor(const PlantedDefect& defect, std::string_view backend);
// An error that lists the names when there is no such defect.
absl::StatusOr<PlantedDefect> FindDefect(std::string_view name);

}  // namespace assay
