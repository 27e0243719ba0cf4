// Merges identical instructions, found by hashing, in one walk over each computation.
#include "optimized/passes/cleanup/cse.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "optimized/passes/util/module_util.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

bool IsCandidate(const Instruction& inst, const Purity& purity) {
  return inst.opcode() != Opcode::kParameter && inst.control_predecessors().empty() &&
         inst.control_successors().empty() && purity.IsPure(inst) &&
         !(inst.opcode() == Opcode::kConstant && inst.literal() == nullptr);
}

uint64_t Mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccd;
}

struct AttributeKey {
  uint64_t operator()(bool value) const { return value ? 1 : 2; }
  uint64_t operator()(int64_t value) const { return static_cast<uint64_t>(value); }
  uint64_t operator()(const Int64List& list) const {
    uint64_t key = list.size();
    for (int64_t value : list) key = Mix(key, static_cast<uint64_t>(value));
    return key;
  }
  uint64_t operator()(const std::vector<SliceRange>& ranges) const {
    uint64_t key = ranges.size();
    for (const SliceRange& range : ranges) key = Mix(key, static_cast<uint64_t>(range.start));
    return key;
  }
  template <typename T>
  uint64_t operator()(const T&) const {
    return 0;
  }
};

// Equal for instructions that Same holds for: operands count in any order.
uint64_t Key(const Instruction& inst) {
  uint64_t operands = 0;
  for (const Instruction* operand : inst.operands()) {
    operands += Mix(1, static_cast<uint64_t>(operand->id()));
  }
  uint64_t key = Mix(static_cast<uint64_t>(inst.opcode()), operands);
  key = Mix(key, static_cast<uint64_t>(inst.shape().element_type()));
  if (inst.shape().IsArray()) {
    for (int64_t size : inst.shape().dimensions()) key = Mix(key, static_cast<uint64_t>(size));
  }
  for (const Attributes::Entry& entry : inst.attributes().entries()) {
    if (entry.first < Attr::kSharding) key = Mix(key, std::visit(AttributeKey(), entry.second));
  }
  if (const Literal* literal = inst.literal()) {
    const absl::Span<const uint8_t> bytes = literal->bytes();
    for (size_t i = 0; i < std::min<size_t>(bytes.size(), 64); ++i) key = Mix(key, bytes[i]);
  }
  return key;
}

bool Same(const Instruction& a, const Instruction& b, const Gates& gates) {
  if (a.opcode() != b.opcode() || !(a.shape() == b.shape()) ||
      !gates.Holds("common-subexpression/same-operation", &a, a.SameOperation(b))) {
    return false;
  }
  const absl::Span<Instruction* const> x = a.operands(), y = b.operands();
  if (std::equal(x.begin(), x.end(), y.begin(), y.end())) return true;
  return x.size() == 2 &&
         gates.Holds("common-subexpression/commutes", &a, Info(a.opcode()).Is(kCommutative)) &&
         x[0] == y[1] && x[1] == y[0];
}

bool RunOn(Computation* computation, Gates& gates, const Purity& purity) {
  // Looked up only, never walked: its order does not matter.
  absl::flat_hash_map<uint64_t, std::vector<Instruction*>> seen;
  bool changed = false;
  for (Instruction* inst : computation->InPostOrder()) {
    if (!IsCandidate(*inst, purity)) continue;
    std::vector<Instruction*>& bucket = seen[Key(*inst)];
    const auto match = std::find_if(bucket.begin(), bucket.end(),
                                    [&](Instruction* other) { return Same(*inst, *other, gates); });
    if (match == bucket.end()) {
      bucket.push_back(inst);
      continue;
    }
    Rewrite rewrite(gates, "common-subexpression", inst);
    if (rewrite) changed |= rewrite.Replace(*match);
  }
  return changed;
}

// Computations that are applied to single elements: they have no memory of their own.
bool AppliesToElements(const Instruction& inst) {
  switch (inst.opcode()) {
    case Opcode::kMap:
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
    case Opcode::kScatter:
    case Opcode::kSelectAndScatter:
    case Opcode::kSort:
      return inst.callees().size() == 1;
    default:
      return false;
  }
}

// JAX writes one combiner for each sum: equal ones become one, so that equal sums are found.
bool ShareComputations(Module& module, Gates& gates) {
  absl::flat_hash_map<uint64_t, std::vector<Computation*>> seen;  // looked up only
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (!AppliesToElements(*inst)) continue;
      Computation* callee = inst->callee();
      std::vector<Computation*>& bucket =
          seen[Mix(static_cast<uint64_t>(callee->root()->opcode()),
                   static_cast<uint64_t>(callee->instruction_count()))];
      const auto match = std::find_if(bucket.begin(), bucket.end(), [&](Computation* other) {
        return other == callee || other->Equal(*callee);
      });
      if (match == bucket.end()) {
        bucket.push_back(callee);
      } else if (*match != callee &&
                 gates.Allow(DecisionKind::kRewrite, "share-computation", inst)) {
        inst->set_callee(0, *match);
        changed = true;
      }
    }
  }
  return changed;
}

}  // namespace

absl::StatusOr<bool> CommonSubexpressionElimination::Run(Module& module, PassContext& context) {
  const Purity purity(module);
  bool changed = ShareComputations(module, context.gates);
  for (Computation* computation : UnitComputations(module)) {
    changed |= RunOn(computation, context.gates, purity);
  }
  return changed;
}

}  // namespace assay
