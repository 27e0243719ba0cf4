// The limits of what the clauses license, and the releases of XLA that they are granted to.
#pragma once

#include <string_view>

#include "spec/numerics/profile.h"

namespace assay {

// A licence grants digits and the order of sums. What a program makes certain stays so: an
// infinity, a NaN, a finite number, a zero, a sign, a part of a complex number.
struct ClauseLimit {
  ClauseId id;
  std::string_view changes;  // the whole of what a result may differ in by the clause
  std::string_view kept_by;  // a case of reference/testdata/verdicts.txt of what it must not change
};
const ClauseLimit& LimitOf(ClauseId id);

// The month from which on XLA makes some folds only where fast math is asked for: the version of
// the profiles of releases from then on.
inline constexpr std::string_view kGated = "2026-09";
// True of the clauses about these folds.
constexpr bool IsGated(ClauseId id) { return id == ClauseId::kExponentials; }

// The version of one of XLA's profiles that a release of jaxlib, such as "0.10.2", is judged by:
// what older releases do is not granted to newer ones. `profile` itself where the release is not
// known.
const Profile& ProfileOfJaxlib(const Profile& profile, std::string_view release);

}  // namespace assay
