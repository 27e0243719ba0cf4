// The backend "pjrt:FILE.so": any PJRT plug-in, without Python. Programs go to it in the binary
// form of HLO, in a process of its own.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "fuzz/backends/process_backend.h"
#include "nlohmann/json_fwd.hpp"

namespace assay {

// Reads "FILE.so,devices=N,format=hlo|mlir,xla_...=...". `program` is what "pjrt-worker" is a word
// of.
absl::StatusOr<ProcessBackendOptions> PjrtOptions(const std::string& options,
                                                  const std::string& program);

// Registers "pjrt". `program`: this one, when empty.
void RegisterPjrt(BackendRegistry& registry, std::string program = "");

// The facts that a plug-in tells of itself: "api", "attributes", "extensions", "devices",
// "memories", "missing functions". `options` as of PjrtOptions.
absl::StatusOr<nlohmann::json> ProbePjrt(const std::string& options,
                                         const std::string& program = "");

}  // namespace assay
