// The data files of this room that are built into the program.
#pragma once

#include "absl/types/span.h"
#include "spec/base/embedded.h"

namespace assay {

// The files of conformance/goldens.
absl::Span<const Embedded> GoldenFiles();
// waivers.json alone.
absl::Span<const Embedded> WaiverFiles();
// mission_rows.tsv alone.
absl::Span<const Embedded> MissionRowFiles();

}  // namespace assay
