// The loops over lanes, compiled as optimized/CMakeLists.txt says.
#include "optimized/gpu/simulator/lanes/lane_functions.h"

namespace assay::gpu {

LaneTable Avx2Lanes() { return MakeLaneTable(); }

}  // namespace assay::gpu
