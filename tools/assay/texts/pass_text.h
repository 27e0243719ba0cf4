// One pass of the compiler in words: what it does, when it runs, and a case of it.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"
#include "optimized/pipeline/registry.h"

namespace assay {

struct PassDescription {
  const PassInfo* info = nullptr;
  std::vector<std::string> runs;       // a line per place in the list: "on GPUs, in simplification"
  std::vector<std::string> order;      // "before loop-fusion: a counter in a fusion is ..."
  std::vector<std::string> sentences;  // of the documents, which its cases assert
  int64_t cases = 0, near_misses = 0;
  std::string name, before, after;  // of the shortest case; "": there is none
};

// An unknown name is an error that lists the passes.
absl::StatusOr<PassDescription> DescribePass(std::string_view name);

nlohmann::json ToJson(const PassDescription& pass);
// The lines that `assay explain --pass` prints.
std::string ToText(const PassDescription& pass);

// When a pass runs, in a few words: "always", "on GPUs", "on request: for the despecializer".
std::string WhenItRuns(std::string_view pass);

}  // namespace assay
