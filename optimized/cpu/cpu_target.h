// The CPU as a target.
#pragma once

#include "optimized/target/target.h"

namespace assay {

// The ops that there is code for; machine and run are filled in for each compilation.
const Target& CpuTarget();

}  // namespace assay
