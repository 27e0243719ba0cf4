// Estimates how often a kernel computes the same elements anew.
#pragma once

#include "spec/ir/computation.h"

namespace assay {

// True if the computation of a fusion, each element of whose ops is computed where it is read,
// would do many times the work that its ops do one after the other: a sum that a broadcast reads is
// formed for every element of the broadcast.
bool RepeatsWork(const Computation& fused);

}  // namespace assay
