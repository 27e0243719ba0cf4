// The widths of the bounds of a run, instruction by instruction: they show where a bound becomes
// useless.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/backend/backend.h"
#include "spec/ir/module.h"
#include "spec/numerics/profile.h"

namespace assay::reference {

// One result of an instruction; in loops the widest of all its results.
struct Width {
  const Instruction* instruction;
  int64_t elements = 0, undecided = 0;
  // The largest radius over the root mean square of the centres, and what it was for the operands.
  double relative = 0, of_operands = 0;
  // More than a verdict can use (spec/numerics/expectation.h).
  bool useless = false;
};

// In the order of the first evaluation. An analysis that ended without a verdict says so in
// `inconclusive` and lists what it came to.
struct Widths {
  std::vector<Width> instructions;
  std::string inconclusive;
};

absl::StatusOr<Widths> MeasureWidths(const Module& module,
                                     const std::vector<const Literal*>& arguments,
                                     const Profile& profile, const Limits& limits);

}  // namespace assay::reference
