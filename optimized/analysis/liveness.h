// Finds which parts of tuples the result of a module, or an effect, depends on, across loops, calls
// and conditionals. Document: HLO passes, "HLO module DCE" (liveness analysis).
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "spec/ir/module.h"

namespace assay {

// The array (or token) leaves of a value are numbered in the order in which its shape names them
// (LeafCount): the number of the first leaf of element i of a tuple.
int64_t FirstLeaf(const Shape& shape, int64_t i);

class Liveness {
 public:
  explicit Liveness(const Module& module);
  bool IsLive(const Instruction* inst, int64_t leaf) const;
  // Some leaf of element i of a tuple is live.
  bool IsElementLive(const Instruction* tuple, int64_t i) const;

 private:
  void Mark(const Instruction* inst, int64_t leaf);
  void MarkAll(const Instruction* inst);
  // Marks what the live leaves of `inst` are made of.
  void Spread(const Instruction* inst);
  void SpreadToCallers(const Instruction* parameter, int64_t leaf);

  absl::flat_hash_map<const Computation*, std::vector<const Instruction*>> callers_;
  absl::flat_hash_map<const Instruction*, std::vector<bool>> live_;
  std::vector<const Instruction*> open_;
};

}  // namespace assay
