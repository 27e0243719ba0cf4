// Takes one point of a series: a side beside the frozen reference, in processes of their own.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "bench/tracking/side.h"
#include "reports/store.h"

namespace assay {

// Fills `point` with the median ratio of pairs, in random order within a pair, and with what is the
// same in every run. `pairs` are taken, and up to three times as many where they do not agree by
// about half a percent. A ratio is of the calm runs of both processes (CalmTenth), or of their
// medians where a program is too old to tell. The texts are the caller's (MadeBy). Errors: of a
// sample.
absl::StatusOr<PointRow> TakePoint(const Side& side, const Side& frozen, const std::string& path,
                                   int64_t pairs, const SampleOptions& sampling, PointRow point);

}  // namespace assay
