// Chooses the values of a program that are captured. Design: "Deep programs are cut".
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "conformance/cuts/programs/capture_module.h"

namespace assay {

// The computations of a flat module that run as a unit and whose values can be captured: the
// entry, bodies of loops, branches.
std::vector<const Computation*> CapturableUnits(const Module& flat);

// True if all readers of the instruction's result have the same value, because it is made once and
// kept. Sums of two and more terms, loops' states, sorts, library calls are; element-wise ops and
// moves may be computed anew for each reader.
bool IsOneForAllReaders(const Instruction& instruction);

// True of ops whose values need no look of their own: they are given, or other instructions compute
// them (those in the body of a loop).
bool ComputesNothing(Opcode opcode);

// All arrays of such instructions that are worth a capture. `only_contractions`: dots,
// convolutions, loops' states and what libraries do; the least that cuts where errors grow most.
std::vector<CapturePoint> SumsOf(const Module& flat, bool only_contractions);

// Every array that can be captured; of loops not their states.
std::vector<CapturePoint> AllPoints(const Module& flat);

// All points at instructions of the opcode and shape of one of these: in the layers of a deep
// program what loses precision in one loses it in all.
std::vector<CapturePoint> PointsAlike(const Module& flat, absl::Span<const CapturePoint> points);

// The number of elements of each of the program's arrays for which the oracle has only a useless
// bound.
using UselessElements = absl::flat_hash_map<CapturePoint, int64_t>;

// The instructions whose results have useless bounds though their operands have useful ones: where
// precision is lost. In the order of the module.
std::vector<const Instruction*> Losses(const Module& flat, const UselessElements& useless,
                                       const absl::flat_hash_set<CapturePoint>& captured);

// These and their operands, moves left out, as far as they are not captured yet.
std::vector<CapturePoint> AroundLosses(absl::Span<const Instruction* const> losses,
                                       const absl::flat_hash_set<CapturePoint>& captured);

// The captured values from which the instruction is reached without another capture between; it
// itself if it is captured.
std::vector<CapturePoint> NearestCaptures(const Instruction& instruction,
                                          const absl::flat_hash_set<CapturePoint>& captured);

// The captured array whose elements the instruction shows, which are moved on the way at most; none
// where they are computed from captured ones.
std::optional<CapturePoint> CapturedSource(const Instruction& instruction,
                                           const absl::flat_hash_set<CapturePoint>& captured);

// The instructions from captured values and the program's parameters to the point, operands first;
// of a loop those of its body that lead to this part of its state, and what entered it.
std::vector<const Instruction*> StretchOf(const CapturePoint& point,
                                          const absl::flat_hash_set<CapturePoint>& captured);

template <typename H>
H AbslHashValue(H h, const CapturePoint& point) {
  return H::combine(std::move(h), point.instruction, point.leaf);
}

// Captures that leave results of the program as they are without any: a capture may end a fusion,
// or have a value rounded that is not otherwise. Points are tried together and, where that moves a
// result, in halves, so that a few that do cost few trials.
class QuietCaptures {
 public:
  // Tells whether the program with these captures has the results that it has without.
  using Trial = std::function<bool(const std::vector<CapturePoint>&)>;

  QuietCaptures(Trial is_quiet, int most_trials)
      : is_quiet_(std::move(is_quiet)), trials_left_(most_trials) {}

  // Adds those of the points that move nothing. What was tried before is not tried again. False if
  // none was added.
  bool Grow(absl::Span<const CapturePoint> points);

  const std::vector<CapturePoint>& points() const { return points_; }

 private:
  void TryTogether(absl::Span<const CapturePoint> points);

  const Trial is_quiet_;
  int trials_left_;
  std::vector<CapturePoint> points_;
  absl::flat_hash_set<CapturePoint> tried_;
};

}  // namespace assay
