// Measures what this machine can do at best, as a limit that a run's time is compared with. Shares
// of it travel between machines; times do not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/cost.h"

namespace assay {

struct Roof {
  struct Bandwidth {
    std::string level;            // "L1", "L2", "L3", "memory"
    int64_t working_set = 0;      // bytes of both arrays of a copy, all threads together
    double bytes_per_second = 0;  // read plus written
  };
  int threads = 1;
  double fma_per_second = 0;              // f32, in flops: a fused multiply-add counts two
  double transcendentals_per_second = 0;  // f32 exp by a polynomial in vectors
  std::vector<Bandwidth> copies;          // from the smallest working set up
};

// Best of several short runs on `threads` threads, `seconds` in all (about).
Roof MeasureRoof(int threads, double seconds);

// The least time that work can take: the larger of arithmetic at the FMA and transcendental rates
// and of the compulsory bytes at the bandwidth of the level that holds them. Seconds; 0 without
// work.
double LimitSeconds(const Roof& roof, const Cost& cost);

}  // namespace assay
