// The cases of passes, built into the program.
#pragma once

#include "absl/types/span.h"
#include "spec/base/embedded.h"

namespace assay {

// The files of optimized/testdata/passes.
absl::Span<const Embedded> PassCaseFiles();

}  // namespace assay
