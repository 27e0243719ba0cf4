// Drops the schedule.
#include "optimized/passes/memory/descheduler.h"

namespace assay {

absl::StatusOr<bool> Descheduler::Run(Module& module, PassContext&) {
  if (!module.has_schedule()) return false;
  module.clear_schedule();
  return true;
}

}  // namespace assay
