// From the collectives of a module to the plans that the runtime follows. A collective is numbered
// before any pass runs; the copies that passes make of it (inlined calls, one body per call site)
// keep the number: wherever a device reaches it, it is the same meeting.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "optimized/runtime/collectives.h"
#include "spec/backend/backend.h"
#include "spec/ir/module.h"

namespace assay {

// All devices read from each other, or one from another; start forms are not among them.
bool IsCollective(Opcode opcode);

// Numbers every collective and start of one from 0. What each is called in messages, by number.
std::vector<std::string> NumberCollectives(Module& module);
int64_t CollectiveNumber(const Instruction& collective);  // -1: it has none
void ForgetNumbers(Module& module);

// By number; an unused one is empty. Errors: groups that name no such device, or whose size does
// not fit the shapes.
absl::StatusOr<std::vector<CollectivePlan>> PlanCollectives(const Module& module,
                                                            const std::vector<std::string>& names,
                                                            const DeviceAssignment& devices);

}  // namespace assay
