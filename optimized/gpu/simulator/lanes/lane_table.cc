// Which loops over lanes this host runs.
#include "optimized/gpu/simulator/lanes/lane_table.h"

namespace assay::gpu {

const LaneTable& Lanes() {
#if defined(__x86_64__)
  static const LaneTable table = [] {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
      return Avx512Lanes();
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Avx2Lanes();
    return BaselineLanes();
  }();
#else
  static const LaneTable table = BaselineLanes();
#endif
  return table;
}

}  // namespace assay::gpu
