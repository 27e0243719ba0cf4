// The data files of this room that are built into the program.
#pragma once

#include "absl/types/span.h"
#include "spec/base/embedded.h"

namespace assay {

// jax_published.tsv alone.
absl::Span<const Embedded> PublishedFiles();

}  // namespace assay
