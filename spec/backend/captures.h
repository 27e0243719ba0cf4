// Values that a compiled program was seen to compute on its way to its results. The oracle judges
// each of them against what it expects of it, and goes on from what was seen, where bounds have
// not yet grown. Design: "Deep programs are cut".
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "spec/ir/instruction.h"
#include "spec/numerics/expectation.h"
#include "spec/types/literal.h"

namespace assay {

// One array that was seen. Loops around its instruction are leading dimensions, outermost first:
// element [2, ...] is the value of the third trip.
struct Capture {
  // The branch that a conditional took, as s32, instead of one of its arrays.
  static constexpr int64_t kBranchTaken = -1;

  // An instruction of the module that is evaluated, in the entry or in what calls, loops and
  // conditionals run. A capture of a loop holds its state after each trip (the loop itself counts
  // among the leading dimensions).
  const Instruction* instruction = nullptr;
  int64_t leaf = 0;  // of its result, depth first
  Literal values;
  // Readers have exactly this value, but for what the last rounding of its producer and the profile
  // leave open: a type narrower than f32 may be read before it is rounded, a product by an
  // addition. False: it is only judged, for its readers may have computed it anew.
  bool is_followed = true;
  // All of it was judged right before, with more or less known of what it was made of: it is
  // followed, whatever is left open of it this time.
  bool is_right = false;
  int64_t device = 0;  // that computed it, where there are several
};

// The oracle's word on one array at one place of the program.
struct CaptureVisit {
  const Instruction& instruction;
  int64_t leaf;
  const ArrayExpectation& expected;
  const Literal* seen;  // the captured value of this trip; nullptr if there is none
  // The elements of the array that were judged, by linear index, if that is not all of them: then
  // `expected` and `seen` are lists of these alone.
  const std::vector<int64_t>* sample = nullptr;
};

struct Captures {
  std::vector<Capture> values;
  // Called for every captured array, in the order of evaluation; with `visits_all` for every array
  // that an instruction of these computations gives, constants and parameters excepted.
  std::function<void(const CaptureVisit&)> visit;
  bool visits_all = false;
  // Readers have exactly what was seen. That is one of the values that they may have, so what is
  // right for it is right; what is wrong for it may be right for another.
  bool as_seen = false;
  // A float element that stays undecided keeps its bound instead of what was seen of it: what is
  // right then does not rest on it.
  bool keeps_open = false;
  // The number of elements that are judged of captured dots and convolutions that are followed, if
  // they have more than `cheap_products` products: corners, edges of tiles, extremes and NaNs, and
  // others that are drawn from the seed. 0: all.
  int64_t sample = 0, cheap_products = 0;
  uint64_t sample_seed = 1;
};

// The elements that are to be judged, a list for each array.
using ElementLists = std::vector<std::vector<int64_t>>;

// The legal values to draw for a comparison with what was seen (Oracle::DrawFrom).
struct DrawOptions {
  // Rising linear indices of the elements that are looked at, for every captured array in the order
  // in which `visit` showed them. Followed arrays of which nothing is looked at are not computed.
  const ElementLists* looked_at = nullptr;
  uint64_t seed = 1;
  bool flushes = false;  // subnormal numbers to zero
};

}  // namespace assay
