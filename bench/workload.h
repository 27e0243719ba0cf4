// Workloads: modules whose inputs are drawn by the rules of a manifest.json beside them, so that no
// megabytes are stored. A module without a row there takes its arrays as `assay check` does.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/cost.h"
#include "spec/ir/module.h"
#include "spec/types/literal.h"

namespace assay {

struct Workload {
  std::string name;
  std::string work_class;  // "gemm", "norm", ...; "" when the manifest has none
  std::unique_ptr<Module> module;
  std::vector<Literal> inputs;  // per entry parameter
  Cost cost;                    // what the manifest states; counted where it does not
};

// A module, or every module of a folder. The same seed draws the same inputs on every machine.
absl::StatusOr<std::vector<std::string>> FindWorkloads(const std::string& path);
// The file's name without folder and ending.
std::string NameOfWorkload(const std::string& module_path);
absl::StatusOr<Workload> LoadWorkload(const std::string& module_path, uint64_t seed);

}  // namespace assay
