// From a kernel that makes rows back to all that only it needs, as long as the whole works by rows.
#include "optimized/passes/fusion/row_fusion.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "optimized/analysis/walks/row_kernels.h"
#include "optimized/passes/fusion/fusion_writer.h"
#include "optimized/passes/util/module_util.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

constexpr size_t kMaxMembers = 16;
constexpr size_t kMaxOperands = 32;
constexpr size_t kMaxResults = 8;
constexpr size_t kMaxLooks = 256;  // instructions that are looked at for a way from one to another

class RowGroup {
 public:
  RowGroup(Instruction* last, const Purity& purity, Gates& gates)
      : last_(last), purity_(purity), gates_(gates), rows_(RowsOf(*last)) {}

  bool Run() {
    if (!MayTakePart(*last_) || !HasRows(rows_) || !FitsRows(*last_)) return false;
    members_ = {last_};
    Grow();
    GrowSideways();
    Grow();
    if (members_.size() < 2) return false;
    std::vector<Instruction*> results;
    for (Instruction* member : members_) {
      if (IsRead(*member)) results.push_back(member);
    }
    if (results.empty()) return false;
    FusionWriter writer(members_, results, "fused_rows");
    const size_t folds = FoldsOfRows(writer.computation()).size();
    // Without rows among the results there is nothing to gain for one reduce.
    const bool has_rows = absl::c_any_of(
        results, [&](const Instruction* result) { return SameDimensions(result->shape(), rows_); });
    const bool pays = folds > (has_rows ? 0 : 1);
    if (!pays || results.size() > kMaxResults || writer.operand_count() > kMaxOperands ||
        !gates_.Allow(DecisionKind::kKernel, "fuse-rows", last_)) {
      writer.Drop();
      return false;
    }
    writer.Replace();
    return true;
  }

  const std::vector<Instruction*>& members() const { return members_; }

 private:
  static bool HasRows(const Shape& shape) {
    return shape.IsArray() && shape.rank() > 0 &&
           shape.dimension(shape.rank() - 1) >= RowFusion::kShortestRow &&
           shape.dimension(shape.rank() - 1) <= RowFusion::kLongestRow;
  }

  bool MayTakePart(const Instruction& inst) const {
    if (!IsPlain(inst) || !purity_.IsPure(inst)) return false;
    switch (inst.opcode()) {
      case Opcode::kFusion:
      case Opcode::kReduce:
      case Opcode::kBroadcast:
        return true;
      default:
        return Info(inst.opcode()).Is(kElementwise) && inst.callees().empty() &&
               inst.opcode() != Opcode::kCopy && inst.operand_count() > 0;
    }
  }
  // True of whatever such a kernel may hold: the root of what an instruction computes is a map, or
  // reduces rows.
  bool FitsRows(const Instruction& inst) const {
    const Shape& shape = inst.shape();
    const int64_t rank = rows_.rank();
    if (shape.rank() != rank && shape.rank() != rank - 1) return false;
    for (int64_t d = 0; d < shape.rank(); ++d) {
      if (shape.dimension(d) != rows_.dimension(d)) return false;
    }
    return true;
  }
  bool IsMember(const Instruction* inst) const { return absl::c_linear_search(members_, inst); }

  // True if a way leads from `from`, by others than members, to `to`, or might.
  bool Leads(const Instruction* from, const absl::flat_hash_set<const Instruction*>& to) const {
    absl::flat_hash_set<const Instruction*> seen = {from};
    std::vector<const Instruction*> left = {from};
    while (!left.empty()) {
      const Instruction* at = left.back();
      left.pop_back();
      if (to.contains(at)) return true;
      for (const Instruction* user : at->users()) {
        if (!IsMember(at) && seen.insert(user).second) left.push_back(user);
      }
      if (seen.size() > kMaxLooks) return true;
    }
    return false;
  }
  // True if nothing that reads `value` outside of the group leads back into it.
  bool MayBeRead(const Instruction& value) const {
    const absl::flat_hash_set<const Instruction*> members(members_.begin(), members_.end());
    return absl::c_none_of(value.users(), [&](const Instruction* user) {
      return !IsMember(user) && Leads(user, members);
    });
  }

  // Producers, latest first. Those that others read, too, are results as well.
  void Grow() {
    for (size_t at = 0; at < members_.size(); ++at) {
      for (Instruction* operand : members_[at]->operands()) {
        if (members_.size() >= kMaxMembers) return;
        if (IsMember(operand) || !MayTakePart(*operand) || !FitsRows(*operand) ||
            operand == operand->parent()->root()) {
          continue;
        }
        if (MayBeRead(*operand)) {
          members_.push_back(operand);
          at = static_cast<size_t>(-1);  // others may be read by members alone now
          break;
        }
      }
    }
  }

  // True if somebody outside of the group reads it.
  bool IsRead(const Instruction& inst) const {
    return inst.parent()->root() == &inst ||
           !absl::c_all_of(inst.users(), [&](const Instruction* user) { return IsMember(user); });
  }
  // True if a reduce of rows is in it: a result that is worth its place.
  bool AddsFolds(const Instruction& inst) const {
    const auto folds = [&](const Instruction* each) {
      return each->opcode() == Opcode::kReduce && each->operand_count() == 2 &&
             SameDimensions(each->operand(0)->shape(), rows_);
    };
    return inst.opcode() == Opcode::kFusion ? absl::c_any_of(*inst.callee(), folds) : folds(&inst);
  }

  // Reduces of the same rows, and whatever reads what is there of a row already.
  void GrowSideways() {
    std::vector<Instruction*> candidates;
    const auto add_users = [&](const Instruction* of, bool all) {
      if (of->users().size() > kMaxMembers) return;
      for (Instruction* user : of->users()) {
        if (all || AddsFolds(*user)) candidates.push_back(user);
      }
    };
    for (const Instruction* member : members_) {
      add_users(member, /*all=*/true);
      for (const Instruction* operand : member->operands()) {
        if (SameDimensions(operand->shape(), rows_)) add_users(operand, /*all=*/false);
      }
    }
    for (Instruction* candidate : candidates) {
      if (members_.size() >= kMaxMembers) return;
      if (!IsMember(candidate) && MayTakePart(*candidate) && FitsRows(*candidate) &&
          IsApart(candidate)) {
        members_.push_back(candidate);
      }
    }
  }
  // True if no way over others leads from the group to `inst`, and none from there to the group.
  bool IsApart(const Instruction* inst) const {
    const absl::flat_hash_set<const Instruction*> members(members_.begin(), members_.end());
    if (Leads(inst, members)) return false;
    for (const Instruction* member : members_) {
      for (const Instruction* user : member->users()) {
        if (user != inst && !IsMember(user) && Leads(user, {inst})) return false;
      }
    }
    return true;
  }

  Instruction* last_;
  const Purity& purity_;
  Gates& gates_;
  const Shape rows_;
  std::vector<Instruction*> members_;
};

}  // namespace

absl::StatusOr<bool> RowFusion::Run(Module& module, PassContext& context) {
  const Purity purity(module);
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    absl::flat_hash_set<const Instruction*> gone;
    std::vector<Instruction*> order = computation->PostOrder();
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      if (gone.contains(*it)) continue;
      RowGroup group(*it, purity, context.gates);
      if (!group.Run()) continue;
      gone.insert(group.members().begin(), group.members().end());
      changed = true;
    }
  }
  if (changed) module.RemoveUnusedComputations().IgnoreError();
  return changed;
}

}  // namespace assay
