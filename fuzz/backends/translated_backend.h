// Translation validation: a backend that only compiles, with the oracle as its machine. What it
// answers is the meaning of the optimized module, so a wrong answer is a wrong HLO pass and never
// wrong code.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "spec/backend/backend.h"
#include "spec/backend/oracle.h"

namespace assay {

// Compiles with `compiler`, evaluates Executable::OptimizedModule with `oracle`, which must outlive
// the result. Optimized modules that hold calls private to their backend, or any other op without a
// meaning here, are unsupported.
std::unique_ptr<Backend> MakeTranslatedBackend(std::string name, std::unique_ptr<Backend> compiler,
                                               Oracle& oracle);

// "pipeline:K": our passes up to decision K ("passes:K" of the registry). "xla-opt": XLA's passes
// (options as of "xla"). `registry` must hold "passes" when a pipeline is created, and outlive the
// registration.
void RegisterTranslated(BackendRegistry& registry, Oracle& oracle, std::string python = "");

}  // namespace assay
