// Deals with a worker that has not answered in time.
#pragma once

#include <cstdint>

namespace assay {

// Seconds; moments are those of Now().
struct LateWorker {
  double deadline = 0;
  double seconds = 0;    // that its work was given
  double waited = 0;     // of the time since: it could compute and got no processor
  bool killed = false;   // for its time
  double killed_at = 0;  // then: it may be long after the deadline

  enum class Step : uint8_t { kWait, kKill, kGiveUp };
  // On a busy machine a worker that could compute all the time may have had little of it when the
  // deadline comes, and gets more; one that sleeps, or has had its share, is late. A killed one
  // that is not gone after a while never will be, which is nothing that a campaign can mend.
  Step NextStep(double now) const;
};

}  // namespace assay
