// Inputs for modules that come without: drawn from a seed, and such that they show something. An
// integer that says a place (an index of a gather or a scatter, the start of a slice, the class of
// a one-hot code) is drawn from the places that there are, and one in sixteen beside them, so that
// not all of them are clamped.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/ir/module.h"
#include "spec/types/literal.h"

namespace assay {

// The use that is made of the elements of an integer input.
struct PlaceRole {
  int64_t last = 0;        // the places are [0, last]
  bool is_sorted = false;  // the module promises that they ascend
  bool is_unique = false;  // and that none is there twice
  // Negative numbers are compared with zero before: they may count from the end, as in JAX.
  bool is_wrapped = false;
};

class DrawnInputs {
 public:
  explicit DrawnInputs(const Module& module);

  // The argument for the parameter; `stream` is counted up for each of its arrays.
  absl::StatusOr<Literal> Draw(const Instruction& parameter, uint64_t seed, uint64_t& stream) const;
  // By parameter number and leaf.
  const std::map<std::pair<int64_t, int64_t>, PlaceRole>& roles() const { return roles_; }

 private:
  std::map<std::pair<int64_t, int64_t>, PlaceRole> roles_;
};

}  // namespace assay
