// What the rest of the house asks of the oracle. `reference` implements it; nothing else may look
// inside.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "spec/backend/backend.h"
#include "spec/numerics/expectation.h"

namespace assay {

class Oracle {
 public:
  virtual ~Oracle() = default;
  // The value of the program in the plain, strict meaning. Errors: rejected (argument shapes),
  // unsupported op or type, timeout (out of steps), out of memory.
  virtual absl::StatusOr<Literal> Evaluate(const Module& module,
                                           const std::vector<const Literal*>& arguments,
                                           const Limits& limits) = 0;
  // Which answers are right under a profile.
  virtual absl::StatusOr<Expectation> Expect(const Module& module,
                                             const std::vector<const Literal*>& arguments,
                                             const Profile& profile, const Limits& limits) = 0;
};

}  // namespace assay
