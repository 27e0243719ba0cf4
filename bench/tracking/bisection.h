// Halves a row of versions, of which the first is good and the last is bad.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"

namespace assay {

enum class SideVerdict { kGood, kBad, kSkip };

struct Bisection {
  // The last that is known as good and the first that is known as bad. What lies between them was
  // skipped: the first bad one is among these or `bad` itself.
  size_t good = 0, bad = 0;
  std::vector<size_t> skipped;  // all that were, in the order in which they were asked
};

// Asks about places from 1 to count - 2; `count` is at least 2. What cannot be decided (kSkip)
// costs one question: its neighbours are asked instead. An error of `ask` ends it and is returned.
absl::StatusOr<Bisection> Bisect(size_t count,
                                 const std::function<absl::StatusOr<SideVerdict>(size_t)>& ask);

}  // namespace assay
