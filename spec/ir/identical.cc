// Structural equality of instructions and computations. Document: HloModule (Hash, Identical).
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "spec/ir/hash.h"
#include "spec/ir/module.h"

namespace assay {
namespace {

// Walks two graphs in step. Paired instructions stay paired, in both directions: sharing counts, as
// it does for the hash.
class Matcher {
 public:
  using EqualPairs = absl::flat_hash_set<std::pair<const Computation*, const Computation*>>;
  explicit Matcher(EqualPairs& equal) : equal_(equal) {}

  bool Match(const Instruction* a, const Instruction* b) {
    if (!Pair(a, b)) return false;
    while (!work_.empty()) {
      auto [x, y] = work_.back();
      work_.pop_back();
      if (!SameNode(*x, *y)) return false;
      for (int64_t i = 0; i < x->operand_count(); ++i) {
        if (!Pair(x->operand(i), y->operand(i))) return false;
      }
    }
    return true;
  }

  bool Match(const Computation& a, const Computation& b) {
    if (&a == &b || equal_.contains(std::make_pair(&a, &b))) return true;
    if (a.instruction_count() != b.instruction_count()) return false;
    if (a.parameter_count() != b.parameter_count()) return false;
    if ((a.root() == nullptr) != (b.root() == nullptr)) return false;
    if (a.root() != nullptr && !Match(a.root(), b.root())) return false;
    // Instructions that the roots do not reach correspond in post-order, as in the hash.
    const std::vector<Instruction*> in_a = a.PostOrder(), in_b = b.PostOrder();
    for (size_t i = 0; i < in_a.size(); ++i) {
      if (!Match(in_a[i], in_b[i])) return false;
    }
    equal_.emplace(&a, &b);
    return true;
  }

 private:
  bool Pair(const Instruction* a, const Instruction* b) {
    auto [forward, is_new] = to_b_.emplace(a, b);
    if (!is_new) return forward->second == b;
    if (!to_a_.emplace(b, a).second) return false;
    work_.emplace_back(a, b);
    return true;
  }

  bool SameNode(const Instruction& a, const Instruction& b) {
    if (a.opcode() != b.opcode() || a.shape() != b.shape() ||
        a.operand_count() != b.operand_count() || a.callees().size() != b.callees().size() ||
        (a.literal() == nullptr) != (b.literal() == nullptr)) {
      return false;
    }
    if (a.literal() != nullptr && a.literal() != b.literal() &&
        !a.literal()->BitwiseEqual(*b.literal())) {
      return false;
    }
    if (!SameMeaning(a.attributes(), b.attributes())) return false;
    for (size_t i = 0; i < a.callees().size(); ++i) {
      if (!Matcher(equal_).Match(*a.callees()[i], *b.callees()[i])) return false;
    }
    return true;
  }

  EqualPairs& equal_;  // seen before: what is called twice is compared once
  absl::flat_hash_map<const Instruction*, const Instruction*> to_b_, to_a_;
  std::vector<std::pair<const Instruction*, const Instruction*>> work_;
};

}  // namespace

bool Instruction::Identical(const Instruction& other) const {
  Matcher::EqualPairs equal;
  if (parent_ != other.parent_) return Matcher(equal).Match(this, &other);
  if (this == &other) return true;
  // In one computation operands are the same instructions or they are not.
  for (size_t i = 0; i < operands_.size(); ++i) {
    if (i >= other.operands_.size() || operands_[i] != other.operands_[i]) return false;
  }
  if (!SameOperation(other) || !SameMeaning(attributes_, other.attributes_)) return false;
  return true;
}

bool Computation::Equal(const Computation& other) const {
  Matcher::EqualPairs equal;
  return Matcher(equal).Match(*this, other);
}

}  // namespace assay
