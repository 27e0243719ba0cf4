// Carries shardings along operands, readers, tuples and calls until nothing is new.
#include "optimized/passes/domains/sharding_propagation.h"

#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "optimized/analysis/domain_map.h"
#include "optimized/analysis/walks/sharding_maps.h"

namespace assay {
namespace {

// A value is known by a sharding for each array in it, depth-first; nullptr: nothing yet.
using Leaves = std::vector<const Sharding*>;

// Ops whose sharding is that of what they send.
bool IsForAnother(const Instruction& inst) {
  return inst.opcode() == Opcode::kOutfeed || inst.opcode() == Opcode::kSend ||
         inst.opcode() == Opcode::kSendDone;
}

// Equal shardings once: there are few of them, and their lists of devices may be long.
class Shardings {
 public:
  const Sharding* Keep(const Sharding& sharding) {
    for (const SharedValue<Sharding>& kept : kept_)
      if (*kept == sharding) return &*kept;
    return &*kept_.emplace_back(sharding);
  }
  // Gives a sharding in the form of an attribute; nullptr stands for replicated.
  SharedValue<Sharding> Shared(const Sharding* sharding) {
    if (sharding == nullptr) sharding = Keep(Sharding());
    for (const SharedValue<Sharding>& kept : kept_)
      if (&*kept == sharding) return kept;
    return SharedValue<Sharding>(*sharding);
  }

 private:
  std::deque<SharedValue<Sharding>> kept_;
};

class Propagation {
 public:
  explicit Propagation(Module& module) { Reach(module.entry()); }

  bool has_any() const { return has_any_; }

  void Run() {
    // A sharding that splits nothing is carried when those that do have gone all their ways.
    for (const bool with_whole : {false, true}) {
      with_whole_ = with_whole;
      do {
        is_new_ = false;
        for (Computation* computation : computations_) Visit(*computation);
      } while (is_new_);
    }
  }

  // Writes what was found where nothing was given. Returns true if anything was written.
  bool Store(Gates& gates) {
    bool changed = false;
    for (Computation* computation : computations_) {
      for (Instruction* inst : computation->PostOrder()) {
        if (inst->attributes().Has(Attr::kSharding) || IsForAnother(*inst) ||
            inst->opcode() == Opcode::kDomain)
          continue;
        const Leaves& leaves = known_.at(inst);
        if (leaves.empty() || !gates.Allow(DecisionKind::kRewrite, "propagate-sharding", inst))
          continue;
        inst->mutable_attributes().Set(Attr::kSharding, AttrValue(Written(*inst, leaves)));
        changed = true;
      }
    }
    return changed;
  }

 private:
  SharedValue<Sharding> Written(const Instruction& inst, const Leaves& leaves) {
    if (!inst.shape().IsTuple()) return shardings_.Shared(leaves[0]);
    Sharding tuple;
    tuple.kind = Sharding::Kind::kTuple;
    for (const Sharding* leaf : leaves) tuple.elements.push_back(*shardings_.Shared(leaf));
    return SharedValue<Sharding>(std::move(tuple));
  }

  // The computations that run on the same values as the entry, not those that are applied to
  // elements.
  static bool RunsCallees(const Instruction& inst) {
    return inst.opcode() == Opcode::kWhile || inst.opcode() == Opcode::kConditional ||
           inst.opcode() == Opcode::kCall;
  }

  void Reach(Computation* computation) {
    if (!reached_.insert(computation).second) return;
    computations_.push_back(computation);
    for (Instruction* inst : computation->PostOrder()) {
      known_.emplace(inst, Given(*inst));
      if (!RunsCallees(*inst)) continue;
      for (Computation* callee : inst->callees()) Reach(callee);
    }
  }

  Leaves Given(const Instruction& inst) {
    Leaves leaves(static_cast<size_t>(LeafCount(inst.shape())));
    // Behind a border other shardings hold than in front of it.
    const Sharding* given = inst.opcode() == Opcode::kDomain
                                ? &UserSideMetadata(inst)
                                : inst.attributes().GetSharding(Attr::kSharding);
    if (given == nullptr || IsForAnother(inst)) return leaves;
    has_any_ = true;
    for (size_t i = 0; i < leaves.size(); ++i) {
      if (given->kind != Sharding::Kind::kTuple) {
        leaves[i] = shardings_.Keep(*given);
      } else if (i < given->elements.size()) {
        leaves[i] = shardings_.Keep(given->elements[i]);
      }
    }
    return leaves;
  }

  void Visit(Computation& computation) {
    const std::vector<Instruction*> order = computation.PostOrder();
    for (Instruction* inst : order) {
      FromOperands(*inst);
      LinkTuples(*inst);
      if (RunsCallees(*inst)) LinkCallees(*inst);
    }
    for (size_t i = order.size(); i-- > 0;) {
      FromReaders(*order[i]);
      LinkTuples(*order[i]);
    }
  }

  void Set(const Sharding*& leaf, const Sharding* found) {
    if (found == nullptr || leaf != nullptr) return;
    if (!with_whole_ && PartsOf(*found) == 1) return;
    leaf = found;
    is_new_ = true;
  }
  static void KeepBetter(std::optional<Sharding>& best, std::optional<Sharding> other) {
    if (!other.has_value()) return;
    if (!best.has_value() || PartsOf(*other) > PartsOf(*best)) best = std::move(other);
  }

  void FromOperands(const Instruction& inst) {
    std::vector<std::optional<Sharding>> best(known_.at(&inst).size());
    for (int64_t k = 0; k < inst.operand_count(); ++k) {
      const Leaves& operand = known_.at(inst.operand(k));
      const std::optional<CarriedDimensions> carried = CarriedFrom(inst, k);
      if (!carried.has_value() || operand[0] == nullptr) continue;
      const auto leaf = static_cast<size_t>(carried->leaf);
      KeepBetter(best[leaf], CarriedForward(*operand[0], *carried, inst.operand(k)->shape(),
                                            ResultShape(inst, carried->leaf)));
    }
    Leaves& leaves = known_.at(&inst);
    for (size_t i = 0; i < best.size(); ++i)
      if (best[i].has_value()) Set(leaves[i], shardings_.Keep(*best[i]));
  }

  void FromReaders(const Instruction& inst) {
    Leaves& leaves = known_.at(&inst);
    if (!inst.shape().IsArray() || leaves[0] != nullptr) return;
    std::optional<Sharding> best;
    for (const Instruction* user : inst.users()) {
      for (int64_t k = 0; k < user->operand_count(); ++k) {
        if (user->operand(k) != &inst) continue;
        const std::optional<CarriedDimensions> carried = CarriedFrom(*user, k);
        if (!carried.has_value()) continue;
        const Sharding* result = known_.at(user)[static_cast<size_t>(carried->leaf)];
        if (result == nullptr) continue;
        KeepBetter(best, CarriedBackward(*result, *carried, inst.shape(),
                                         ResultShape(*user, carried->leaf)));
      }
    }
    if (best.has_value()) Set(leaves[0], shardings_.Keep(*best));
  }

  static const Shape& ResultShape(const Instruction& inst, int64_t leaf) {
    return inst.shape().IsTuple() ? inst.shape().elements()[static_cast<size_t>(leaf)]
                                  : inst.shape();
  }

  // Both are the same value, or `part` is that part of `whole` which begins at leaf `at`.
  void Link(const Instruction& whole, size_t at, const Instruction& part) {
    Leaves &of_whole = known_.at(&whole), &of_part = known_.at(&part);
    for (size_t i = 0; i < of_part.size(); ++i) {
      Set(of_whole[at + i], of_part[i]);
      Set(of_part[i], of_whole[at + i]);
    }
  }
  void LinkTuples(const Instruction& inst) {
    if (inst.opcode() == Opcode::kTuple) {
      size_t at = 0;
      for (const Instruction* operand : inst.operands()) {
        Link(inst, at, *operand);
        at += known_.at(operand).size();
      }
    } else if (inst.opcode() == Opcode::kGetTupleElement) {
      const Instruction& tuple = *inst.operand(0);
      const int64_t index = inst.attributes().Integer(Attr::kIndex);
      int64_t at = 0;
      for (int64_t i = 0; i < index; ++i)
        at += LeafCount(tuple.shape().elements()[static_cast<size_t>(i)]);
      Link(tuple, static_cast<size_t>(at), inst);
    } else if (inst.opcode() == Opcode::kOptBarrier ||
               inst.attributes().String(Attr::kCustomCallTarget) == "Sharding") {
      Link(inst, 0, *inst.operand(0));
    }
  }
  void LinkCallees(const Instruction& inst) {
    const bool is_loop = inst.opcode() == Opcode::kWhile;
    const int64_t first = inst.opcode() == Opcode::kConditional ? 1 : 0;
    if (is_loop) Link(inst, 0, *inst.operand(0));
    for (size_t c = 0; c < inst.callees().size(); ++c) {
      const Computation& callee = *inst.callees()[c];
      for (int64_t i = 0; i < callee.parameter_count(); ++i) {
        const int64_t k = first == 0 ? i : first + static_cast<int64_t>(c);
        Link(*inst.operand(k), 0, *callee.parameter(i));
      }
      if (Compatible(callee.root()->shape(), inst.shape())) Link(inst, 0, *callee.root());
    }
  }

  Shardings shardings_;
  std::vector<Computation*> computations_;
  absl::flat_hash_set<const Computation*> reached_;
  absl::flat_hash_map<const Instruction*, Leaves> known_;
  bool has_any_ = false;     // was given
  bool with_whole_ = false;  // those of one part are carried, too
  bool is_new_ = false;      // something was found since
};

}  // namespace

absl::StatusOr<bool> ShardingPropagation::Run(Module& module, PassContext& context) {
  Propagation propagation(module);
  if (!propagation.has_any()) return false;
  propagation.Run();
  return propagation.Store(context.gates);
}

}  // namespace assay
