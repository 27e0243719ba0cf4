// Which stream each step of a frame goes to, and what it waits for. Steps that depend on nothing
// unfinished may go to another stream than the first; loops, branches and calls wait for all
// before them, and all behind them waits for those. A frame begins and ends on the first stream.
//
// Decisions (kind kTask): "overlap-steps", for each step that leaves the first stream. Refused: it
// stays there.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "optimized/gates/gates.h"
#include "optimized/plan/program_plan.h"

namespace assay::gpu {

struct StepStream {
  int stream = 0;
  // Steps of the frame, by number, whose ends it waits for; kFork: the begin of its stretch.
  std::vector<int> waits;
  static constexpr int kFork = -1;
  bool is_awaited = false;  // another stream waits for its end
};

// Steps that may overlap, between two that may not.
struct Stretch {
  int begin = 0, end = 0;   // steps; the one numbered `end`, if there is one, runs by itself
  bool forks = false;       // a stream waits for the begin
  std::vector<int> joins;   // steps whose ends the first stream waits for
  bool may_replay = false;  // nothing in it needs the host
};

struct FrameStreams {
  std::vector<StepStream> steps;
  std::vector<Stretch> stretches;  // one more than there are steps that run by themselves
};

struct StreamOptions {
  int streams = 1;          // besides that of collectives; 1: all steps go to the first
  bool host_alone = false;  // steps of the host run by themselves
  // Says which steps the host carries out.
  std::function<bool(const StepPlan& step)> is_host = [](const StepPlan&) { return false; };
};

// Says in the lines of the plan, from `first` on one for each step of the frame, which steps leave
// the first stream, and what each waits for.
void AddStreams(const FramePlan& frame, const FrameStreams& streams, size_t first,
                std::vector<StepText>& lines);

FrameStreams PlanStreams(const FramePlan& frame, const StreamOptions& options, Gates& gates);

// Streams of a program: this one is that of collectives.
inline constexpr int kMostStreams = 8;

}  // namespace assay::gpu
