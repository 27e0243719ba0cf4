// Right before fast: is what was timed within the oracle's bounds? Where they are open for the
// whole program, or the oracle does not come to an end, it is judged by cuts, as `assay check`
// does.
#pragma once

#include <string>

#include "bench/workload.h"
#include "spec/backend/backend.h"
#include "spec/backend/oracle.h"

namespace assay {

class TimedOutputs {
 public:
  // Asks the oracle about the whole program. All arguments outlive this.
  TimedOutputs(const Workload& workload, const Profile& profile, const Limits& limits,
               Oracle& oracle);

  // The verdict on what `backend` returned: "pass", "fail", "inconclusive", or why there is none.
  std::string VerdictOn(Backend& backend, const Literal& output) const;

 private:
  std::string VerdictByCuts(Backend& backend, const Literal& output) const;

  const Workload& workload_;
  const Profile& profile_;
  const Limits& limits_;
  Oracle& oracle_;
  absl::StatusOr<Expectation> expectation_;
};

}  // namespace assay
