// From the collectives of a module, which CollectiveNumbering has tagged, to the plans that the
// runtime follows.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "optimized/runtime/collectives.h"
#include "spec/backend/backend.h"
#include "spec/ir/module.h"

namespace assay {

// By number; an unused one is empty. Errors: groups that name no such device, or whose size does
// not fit the shapes.
absl::StatusOr<std::vector<CollectivePlan>> PlanCollectives(const Module& module,
                                                            const DeviceAssignment& devices);

}  // namespace assay
