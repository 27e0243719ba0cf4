// The page of a step that failed: what the pass changed, which stretch is wrong, and by how much.
#pragma once

#include <string>

#include "conformance/dumps/validate.h"

namespace assay {

// HTML that opens from disk and needs nothing else. `module` is the dumped module's name,
// `command` what repeats the judgement.
std::string ValidatePage(const std::string& module, const DumpStep& step,
                         const std::string& command);

}  // namespace assay
