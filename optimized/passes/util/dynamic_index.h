// Start indices of dynamic-slice and dynamic-update-slice: clamped as the op clamps them, and added
// up without overflow. Document: operation semantics chapter 9, DynamicSlice.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "spec/ir/computation.h"

namespace assay {

// The operands that are start indices.
absl::Span<Instruction* const> StartIndices(const Instruction* dynamic);
// Start index `value` of type `type` as the op takes it: within [0, bound]; u64 beyond INT64_MAX is
// large.
int64_t ClampStart(ElementType type, int64_t value, int64_t bound);
// All clamped start indices, if all are constants.
std::optional<std::vector<int64_t>> ConstantStarts(const Instruction* dynamic);

// The start of one dynamic-slice, as a sum of parts that are each within their own bound: the
// slice's own index, and what the users of the slice add to it. Instructions are added only by
// BuildSlice.
class DynamicIndex {
 public:
  explicit DynamicIndex(Instruction* slice);
  // The result is cut down to `size` elements from `offset` on in dimension `d`.
  void AddOffset(int64_t d, int64_t offset, int64_t size);
  // The result is cut down by another dynamic-slice.
  void AddIndex(int64_t d, Instruction* index, int64_t size);
  // dynamic-slice of the operand with the sums as starts. The innermost index is clamped first.
  Instruction* BuildSlice(const Shape& shape) const;

 private:
  struct Part {
    Instruction* index;  // nullptr: the constant
    int64_t constant;
    int64_t bound;  // largest value after clamping
  };
  ElementType SumType() const;
  Instruction* BuildPart(const Part& part, ElementType type) const;

  Instruction* slice_;
  Computation* computation_;
  std::vector<std::vector<Part>> parts_;  // per dimension
  std::vector<int64_t> sizes_;            // of what is left so far, per dimension
};

}  // namespace assay
