// The changes that a planted defect of the kernel kind makes in generated code. They are built once
// from a Defect; code generation reads the fields and knows no operators.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "spec/attributes/attributes.h"
#include "spec/ir/instruction.h"

namespace assay {

struct Defect;

struct KernelBends {
  // Elements by which every address read from memory is off.
  int64_t load_offset = 0;
  // HLO compares in the first direction are emitted as the second.
  std::optional<std::pair<Direction, Direction>> compare;
  // The bound of the innermost loop is off by so many elements, or, where the vector loop alone is
  // bent, by so many vectors.
  std::optional<int64_t> loop_bound_offset;
  bool only_vector_loop = false;
  // The vector lane that keeps its neighbour's value; one that a vector does not have changes
  // nothing.
  static constexpr int64_t kLastLane = std::numeric_limits<int64_t>::max();
  std::optional<int64_t> stale_lane;

  // A defect that sits in a claim of code generation (optimized/gates/claim_names.h), or nullptr.
  // It lives as long as the gates of the compilation.
  const Defect* planted = nullptr;

  // These are for emitted code, at `at`, what Gates::Holds and Gates::Number are for rewrites.
  bool Holds(std::string_view claim, const Instruction* at, bool holds) const {
    return holds || (planted != nullptr && Forgets(claim, at));
  }
  int64_t Number(std::string_view claim, const Instruction* at, int64_t known) const {
    return planted == nullptr ? known : BentNumber(claim, at, known);
  }
  bool Forgets(std::string_view claim, const Instruction* at) const;
  int64_t BentNumber(std::string_view claim, const Instruction* at, int64_t known) const;

  Direction Bent(Direction direction) const {
    return compare && compare->first == direction ? compare->second : direction;
  }
};

inline constexpr KernelBends kNoBends;

KernelBends BendsOf(const Defect& defect);

}  // namespace assay
