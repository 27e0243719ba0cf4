// Finds the dimensions, and the element types, of a module that have to change together.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "spec/ir/module.h"

namespace assay {

// The kinds of things that have to change together.
enum class LinkKind : uint8_t {
  kSizes,      // dimensions that must have the same size
  kPositions,  // dimensions that correspond even when sizes differ, e.g. across slice and pad
  kTypes,      // element types of leaves that must be equal
};
inline constexpr size_t kLinkKinds = 3;

// A variable per (instruction, leaf array of its shape, dimension), or per (instruction, leaf) for
// types, in classes. Links follow the ops' rules where Assay knows them; a missing link only makes
// candidates that the verifier refuses.
class Equivalence {
 public:
  Equivalence(const Module& module, LinkKind kind);

  // The class of a variable: a number below class_count, in order of first appearance in the
  // module.
  int64_t ClassOf(const Instruction* at, int64_t leaf, int64_t dimension = 0) const;
  int64_t class_count() const { return class_count_; }

  struct Variable {
    const Instruction* instruction;
    int64_t leaf, dimension;
  };
  // The variables of a class, in the order of the module; there is at least one.
  absl::Span<const Variable> MembersOf(int64_t class_number) const {
    return absl::MakeConstSpan(members_).subspan(
        first_member_[class_number], first_member_[class_number + 1] - first_member_[class_number]);
  }

 private:
  struct Place {  // of an instruction's variables
    int64_t first = 0;
    std::vector<int64_t> leaf_offset;  // of each leaf, and one past the last
  };

  int64_t Root(int64_t variable);
  void Join(int64_t a, int64_t b);
  void JoinLeaf(const Instruction* a, int64_t leaf_a, const Instruction* b, int64_t leaf_b);
  void JoinDim(const Instruction* a, int64_t dim_a, const Instruction* b, int64_t dim_b);
  // One after the other.
  void JoinDims(const Instruction* a, absl::Span<const int64_t> dims_a, const Instruction* b,
                absl::Span<const int64_t> dims_b);
  // All leaves of b with those of a from `first` on.
  void JoinLeaves(const Instruction* a, int64_t first, const Instruction* b);
  void CollectMembers();
  void Link(const Instruction* at);
  void LinkFlow(const Instruction* at);
  void LinkSizes(const Instruction* at);
  void LinkPositions(const Instruction* at);
  void LinkTypes(const Instruction* at);
  void LinkCallee(const Instruction* at);
  void LinkCombined(const Instruction* at, const Computation* combiner, int64_t count,
                    int64_t second);
  void LinkDot(const Instruction* at);
  void LinkReduce(const Instruction* at);
  void LinkScatter(const Instruction* at);
  void LinkScan(const Instruction* at);
  void LinkSquare(const Instruction* matrices);
  void LinkSolve(const Instruction* at);
  void LinkBatchNorm(const Instruction* at);
  void LinkReshape(const Instruction* at);

  LinkKind kind_;
  std::vector<Variable> variables_;
  absl::flat_hash_map<const Instruction*, Place> places_;
  std::vector<int64_t> parent_;
  std::vector<int64_t> classes_;
  int64_t class_count_ = 0;
  std::vector<Variable> members_;      // by class
  std::vector<int64_t> first_member_;  // of each class, and one past the last
};

// The leaves of a shape, depth first, to change in place.
std::vector<Shape*> MutableLeaves(Shape& shape);
std::vector<const Shape*> ShapeLeaves(const Shape& shape);

}  // namespace assay
