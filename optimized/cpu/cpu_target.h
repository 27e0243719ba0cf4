// The CPU as a target.
#pragma once

#include "optimized/target/target.h"

namespace assay {

// What there is code for; machine and run are filled in for each compilation.
const Target& CpuTarget();

}  // namespace assay
