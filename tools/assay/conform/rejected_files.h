// The data files of the suite of invalid modules that are built into the program.
#pragma once

#include "absl/types/span.h"
#include "spec/base/embedded.h"

namespace assay {

// spec/ops/testdata/rejected.txt alone.
absl::Span<const Embedded> RejectedFiles();

}  // namespace assay
