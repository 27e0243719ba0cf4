// A program that also gives out what it computes on the way: a copy of a module with chosen values
// as further results. Loops collect theirs in arrays with a dimension for the trips, which are part
// of their state.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "conformance/cuts/programs/flat_module.h"
#include "spec/backend/captures.h"

namespace assay {

// One array of a flat module. A point at a loop stands for its state after each trip.
struct CapturePoint {
  const Instruction* instruction = nullptr;
  int64_t leaf = 0;
  auto operator<=>(const CapturePoint&) const = default;
};

struct CaptureModule {
  // One further result.
  struct Output {
    CapturePoint point;  // leaf Capture::kBranchTaken: which branch; kTrips: of a loop
    std::vector<const Instruction*> loops;  // around it, outermost first
  };
  static constexpr int64_t kTrips = -2;

  std::unique_ptr<Module> module;
  int64_t results = 0;          // leaves of the program's own result, which come first
  std::vector<Output> outputs;  // the leaves behind them
};

// The number of trips that there is room for, for each loop of the flat module.
using TripRoom = absl::flat_hash_map<const Instruction*, int64_t>;

// Points that cannot be reached (in a loop whose state is no tuple) are left out.
absl::StatusOr<CaptureModule> MakeCaptureModule(const FlatModule& flat,
                                                absl::Span<const CapturePoint> points,
                                                const TripRoom& room);

// The captured arrays for the oracle, from the further results of a run, each cut to the trips that
// were made. Sets in `room` what was too little, and then returns no captures.
absl::StatusOr<std::vector<Capture>> ReadCaptures(const CaptureModule& made,
                                                  absl::Span<const Literal* const> leaves,
                                                  TripRoom& room);

// Returns as many of the points, in their order, as fit in `most_bytes` with all trips that there
// is room for.
std::vector<CapturePoint> Affordable(absl::Span<const CapturePoint> points, const TripRoom& room,
                                     int64_t most_bytes);

struct CapturedResults {
  std::vector<Capture> captures;
  std::vector<Literal> results;  // the program's own leaves, those of all devices
};
// Makes the program with the captures and has it run, which gives the result of every device; once
// more where a loop makes more trips than there was room for. Unsupported: the number of trips
// differs from run to run.
absl::StatusOr<CapturedResults> RunWithCaptures(
    const FlatModule& flat, absl::Span<const CapturePoint> points, TripRoom& room,
    const std::function<absl::StatusOr<std::vector<Literal>>(const Module&)>& run);

}  // namespace assay
