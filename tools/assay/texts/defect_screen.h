// Which planted defects the first programs of a seed kill. Only the programs in which a defect may
// bite are run with it, so that all defects together cost little more than one campaign.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "fuzz/defects/defects.h"

namespace assay {

struct ScreenResult {
  bool killed = false;
  int64_t programs = 0;  // until it was killed, that one counted; all of them if it was not
  int64_t bites = 0;     // programs in which it may bite
  int64_t tries = 0;     // of them, how many were run
  double seconds = 0;    // of runs with it
};

struct ScreenOptions {
  std::string backend = "cpu";  // or gpu-sim, with options
  uint64_t seed = 1;
  int64_t programs = 0;
  // A defect whose every decision may be bent is tried on so many programs at most.
  int64_t tries = 400;
  // After each program: how many defects are still alive.
  std::function<void(int64_t program, int64_t alive)> progress;
  // Called for each defect as soon as its result is known; for those that survive, in the end.
  std::function<void(const PlantedDefect& defect, const ScreenResult& result)> done;
};

// One result per defect, those of the same passes together. The programs are those of a campaign of
// that seed. Invalid argument: the screen knows no passes of the backend.
absl::StatusOr<std::vector<ScreenResult>> ScreenDefects(const std::vector<PlantedDefect>& defects,
                                                        const ScreenOptions& options);

}  // namespace assay
