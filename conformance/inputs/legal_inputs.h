// Drawn inputs that are legal where the meaning of an op demands more than a type.
#pragma once

#include <cstdint>
#include <vector>

#include "spec/backend/backend.h"
#include "spec/ir/module.h"
#include "spec/types/literal.h"

namespace assay {

// `drawn` holds an argument per device (replica major) and entry parameter. An array of integers
// that comes by moves alone to such an operand is drawn anew:
//   ragged-all-to-all     sizes and offsets that agree among the members and lie in the arrays
//   collective-broadcast  a root that is a member, the same on all devices
//   collective-permute    starts of slices that lie in the arrays, the same on all devices
//   set-dimension-size, dynamic-reshape, sizes bound to parameters    from 0 to the bound
//   conditional           mostly a branch that there is
void MakeLegal(const Module& module, const DeviceAssignment& devices, uint64_t seed,
               std::vector<Literal>& drawn);

}  // namespace assay
