// Another evaluator of small float programs, which makes every choice that a profile leaves open at
// random. It is written apart from the oracle and its bounds, to test them.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "reference/testing/random.h"
#include "spec/ir/module.h"
#include "spec/numerics/profile.h"

namespace assay::reference {

// The result tuple of the entry. The module is one of RandomFloatProgram.
Literal EvaluateLegally(const Module& module, const std::vector<const Literal*>& arguments,
                        const Profile& profile, Random& random);

}  // namespace assay::reference
