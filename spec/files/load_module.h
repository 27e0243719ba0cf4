// A module from a file, whatever its form. Documents: hlo-format, hlo-proto chapter 7.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "spec/ir/module.h"

namespace assay {

// Reads the file, HLO text or a message in binary or text form (spec/proto/module_proto.h),
// compressed by gzip or not, and verifies the module. Errors in a text come with line and caret,
// also those of the verifier. FILE#PART is one module of a file of several (module_parts.h).
absl::StatusOr<std::unique_ptr<Module>> LoadModule(const std::string& path);
// Loads a module without the verifier, for callers that mend what it would reject.
absl::StatusOr<std::unique_ptr<Module>> LoadUnverifiedModule(const std::string& path);

}  // namespace assay
