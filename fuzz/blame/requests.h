// The form in which triage asks for a check: limits, and repetitions where only they show the
// failure.
#pragma once

#include "spec/backend/check.h"

namespace assay {

// Limits for one check of one program, which a campaign found within its own limits.
inline constexpr Limits kTriageLimits = {
    .seconds = 5, .memory_bytes = int64_t{4} << 30, .steps = int64_t{1} << 28};

// Runs and compilations that show differing bits; a negative limit refuses no decision.
constexpr CheckRequest Repeated(int64_t decision_limit = -1) {
  return {.decision_limit = decision_limit, .repeats = 8, .compile_every = 4};
}

// A check that can show a failure of the kind.
constexpr CheckRequest RequestFor(Outcome::Kind kind, int64_t decision_limit = -1) {
  return kind == Outcome::kNondeterministic ? Repeated(decision_limit)
                                            : CheckRequest{.decision_limit = decision_limit};
}

}  // namespace assay
