// Series that are taken for real, with a planted change of the compiler in each: is it found, when,
// and is its cause named?
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/tracking/side.h"
#include "bench/tracking/watch.h"

namespace assay {

struct PlantedChange {
  std::string workload;
  std::string kind;              // "idle 5 %", "pass left out", "rule refused", ...
  std::string name;              // of the pass or the rule
  std::string backend;           // the changed side
  std::set<std::string> causes;  // words that name it rightly: the pass, its rules
  double step = 0;               // planted in time, relative; 0: not known
  Series points;                 // the level before, then the changed one
  size_t at = 0;                 // the first changed point
};

struct PlantedOptions {
  std::string program;              // of Assay
  int64_t before = 20, after = 12;  // points
  int64_t pairs = 2;                // of processes per point
  // Loops that do nothing, as shares of the run's time; one that is there several times is taken as
  // often, each time in a series of its own.
  std::vector<double> steps = {0.01, 0.02, 0.05, 0.1, 0.2};
  // Each of these series has a level before that is its own, so that none tells what another did.
  bool own_levels = false;
  int64_t most_of_compiler = 8;  // passes and rules per workload
  // Each level is counted once, and only where no other measure that is the same in every run tells
  // it from the one before: by valgrind a count takes longer than all else.
  bool count_instructions = true;
  SampleOptions sampling = {0.005, 0.2, 1, 120};
};

// Plants, for each module: loops that do nothing; one that takes 1 % of the instructions; passes
// left out, and rules refused, that change the code. The level before is taken once per module,
// unless own levels are asked for. `keep` gets every series when it is complete; a module that
// cannot be run is told and left out.
absl::StatusOr<std::vector<PlantedChange>> TakePlanted(
    const std::vector<std::string>& paths, const PlantedOptions& options,
    const std::function<absl::Status(const PlantedChange&)>& keep);

// The rules of each pass that changed the module.
std::map<std::string, std::set<std::string>> RulesByPass(const std::string& program,
                                                         const std::string& path);

// The flags of every point say as JSON what was planted, so that a store tells it all.
std::string FlagsOf(const PlantedChange& change);
// The series of a store that were planted.
std::vector<PlantedChange> PlantedIn(std::vector<PointRow> points);

// Compares what Watch makes of the series, when the points come one by one, with what other rules
// make of the same ratios. Markdown; `text` gives the text of a hash.
std::string PlantedTable(
    const std::vector<PlantedChange>& changes,
    const std::function<absl::StatusOr<std::string>(const std::string&)>& text);

}  // namespace assay
