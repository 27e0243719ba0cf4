// One operand of a contraction as compiled loops walk it: its free axes, the window that moves over
// it, and where in memory each of its elements is. Both ways to run a contraction read it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "optimized/runtime/kernels/contraction.h"

namespace assay {

// Products below which threads cost more than they gain.
inline constexpr int64_t kSmallContraction = 1 << 17;

constexpr int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

// An operand has its element (i, k), i an index of its free axes and k of the contracted ones, at
// base(i) + tap offset + inner[k % inner.size()], unless its tap falls outside.
struct ContractionSide {
  struct Axis {
    int64_t size, step, out;  // out: step in the result
    int window = -1;
  };
  struct Tap {  // an axis of the window
    int64_t stride, dilation, low, size, step;
    int64_t taps;
  };
  const void* data = nullptr;
  std::vector<Axis> axes;  // outermost first
  int64_t count = 1;       // of i
  std::vector<Tap> windows;
  int64_t taps = 1;
  std::vector<int64_t> tap_offsets;  // of each tap, beside what windows add
  std::vector<int64_t> tap_moves;    // of each tap, with what windows add
  std::vector<int64_t> tap_shifts;   // of each tap, by how much it moves along each window
  std::vector<int64_t> inner;
  bool inner_is_run = false;  // the inner elements are neighbours in memory
};

// Offsets of consecutive indices of a side's free axes.
struct SidePlaces {
  static constexpr int kMax = 64;
  int count = 0;
  int64_t base[kMax];
  int64_t out[kMax];
  int64_t at[ContractionPlan::kMaxWindows]
            [kMax];  // where the window begins, along each of its axes
  int64_t lowest[ContractionPlan::kMaxWindows], highest[ContractionPlan::kMaxWindows];  // of `at`
  bool are_neighbours = false;  // in memory, wherever a tap moves them
};

void Locate(const ContractionSide& side, int64_t first, int count, SidePlaces& places);

// True if one tap falls inside of the operand at every place.
bool IsInside(const ContractionSide& side, const SidePlaces& places, int64_t tap);

// Finds the elements that one tap reads. Returns how many exist; `from` has their offsets and
// `exists` their numbers among the places.
int LocateTap(const ContractionSide& side, const SidePlaces& places, int64_t tap, int64_t* from,
              int* exists);

// True if the free elements of a term are neighbours, and terms equally far apart.
bool LieInOrder(const ContractionSide& side);

struct ContractionSides {
  ContractionSide lhs, rhs;
  int64_t terms = 1;
};

// The plan has no batch and no dilated operand.
ContractionSides SidesOf(const ContractionPlan& plan);

// Offsets of all combinations of indices of axes given as (size, step), the last axis fastest.
std::vector<int64_t> CombineOffsets(const std::vector<std::pair<int64_t, int64_t>>& axes);

// The number of the window whose field `which` names this axis; -1: none.
int WindowOf(const ContractionPlan& plan, int64_t axis, int64_t ContractionWindow::* which);

}  // namespace assay
