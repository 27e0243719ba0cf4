// Finds the buffers that a value may live in, for every array of its shape. A buffer is named by
// the instruction that makes it and the number of the leaf there. Operations that only hand values
// on (tuple, get-tuple-element, bitcast, opt-barrier, domain, add-dependency; calls, loop state
// that no trip changes, branches that give what they were given) make none. Document: optimization
// passes, Copy insertion (3).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "spec/ir/module.h"

namespace assay {

struct BufferDefinition {
  const Instruction* instruction = nullptr;
  int64_t leaf = 0;  // depth first, in its shape

  bool operator==(const BufferDefinition&) const = default;
  // A deterministic order: by id.
  bool operator<(const BufferDefinition& other) const {
    return std::pair(instruction->id(), leaf) < std::pair(other.instruction->id(), other.leaf);
  }
  template <typename H>
  friend H AbslHashValue(H state, const BufferDefinition& definition) {
    return H::combine(std::move(state), definition.instruction, definition.leaf);
  }
};
using BufferSet = std::vector<BufferDefinition>;  // sorted

class InstructionAliasSet {
 public:
  InstructionAliasSet() = default;
  explicit InstructionAliasSet(std::vector<BufferSet> leaves) : leaves_(std::move(leaves)) {}

  const std::vector<BufferSet>& leaves() const { return leaves_; }
  // Some leaf may be one of several buffers.
  bool IsAmbiguous() const;
  // No buffer is in two leaves.
  bool IsDistinct() const;

 private:
  std::vector<BufferSet> leaves_;
};

// The aliases of all instructions of a module, as it is when this is made.
class AliasAnalysis {
 public:
  explicit AliasAnalysis(const Module& module);
  const InstructionAliasSet& Of(const Instruction* inst) const { return sets_.at(inst); }
  // Hands on what it is given, and makes no buffer.
  static bool Forwards(Opcode opcode);

 private:
  std::vector<BufferSet> Leaves(const Instruction& inst) const;
  std::vector<BufferSet> CallLeaves(const Instruction& inst) const;
  // Leaf `leaf` of what `callee` gives for `arguments`, as its caller sees it.
  BufferSet SeenByCaller(const Instruction& caller, const Computation& callee,
                         absl::Span<Instruction* const> arguments, int64_t leaf) const;

  absl::flat_hash_map<const Instruction*, InstructionAliasSet> sets_;
};

}  // namespace assay
