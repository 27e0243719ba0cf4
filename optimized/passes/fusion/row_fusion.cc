// From a kernel that makes rows back to all that only it needs, as long as the whole works by rows.
#include "optimized/passes/fusion/row_fusion.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "optimized/analysis/walks/row_kernels.h"
#include "optimized/passes/util/module_util.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

constexpr size_t kMaxMembers = 16;
constexpr size_t kMaxOperands = 32;

class RowGroup {
 public:
  RowGroup(Instruction* last, const Purity& purity, Gates& gates)
      : last_(last), purity_(purity), gates_(gates) {}

  bool Run() {
    if (!MayTakePart(*last_) || !HasRows(last_->shape())) return false;
    Grow();
    if (members_.size() < 2) return false;
    Build();
    if (FoldsOfRows(*fused_).empty() || operands_.size() > kMaxOperands ||
        !gates_.Allow(DecisionKind::kKernel, "fuse-rows", last_)) {
      last_->parent()->parent()->RemoveComputation(fused_);
      return false;
    }
    Computation* computation = last_->parent();
    Instruction* fusion =
        computation->Add(Opcode::kFusion, last_->shape(), operands_,
                         Attributes().Set(Attr::kFusionKind, FusionKind::kLoop), {&fused_, 1});
    last_->ReplaceAllUsesWith(fusion);
    computation->RemoveWithDeadOperands(last_);
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
    const int64_t rank = last_->shape().rank();
    if (shape.rank() != rank && shape.rank() != rank - 1) return false;
    for (int64_t d = 0; d < shape.rank(); ++d) {
      if (shape.dimension(d) != last_->shape().dimension(d)) return false;
    }
    return true;
  }

  // Producers that nobody else reads, latest first.
  void Grow() {
    members_ = {last_};
    for (size_t at = 0; at < members_.size(); ++at) {
      for (Instruction* operand : members_[at]->operands()) {
        if (members_.size() >= kMaxMembers) return;
        if (absl::c_linear_search(members_, operand) || !MayTakePart(*operand) ||
            !FitsRows(*operand) || operand == operand->parent()->root()) {
          continue;
        }
        const bool is_exclusive = absl::c_all_of(operand->users(), [&](Instruction* user) {
          return absl::c_linear_search(members_, user);
        });
        if (is_exclusive) {
          members_.push_back(operand);
          at = static_cast<size_t>(-1);  // others may be read by members alone now
          break;
        }
      }
    }
  }

  Instruction* Inside(Instruction* value) {
    Instruction*& inside = inside_[value];
    if (inside != nullptr) return inside;
    if (absl::c_linear_search(members_, value)) {
      Instruction* made = Copy(*value);
      inside_[value] = made;
      return made;
    }
    inside = fused_->AddParameter(static_cast<int64_t>(operands_.size()), value->shape());
    operands_.push_back(value);
    return inside;
  }

  Instruction* Copy(const Instruction& member) {
    std::vector<Instruction*> arguments;
    for (Instruction* operand : member.operands()) arguments.push_back(Inside(operand));
    if (member.opcode() != Opcode::kFusion) return Add(member, arguments);
    absl::flat_hash_map<const Instruction*, Instruction*> copies;
    for (const Instruction* inst : member.callee()->PostOrder()) {
      if (inst->opcode() == Opcode::kParameter) {
        copies[inst] = arguments[static_cast<size_t>(inst->parameter_number())];
        continue;
      }
      std::vector<Instruction*> operands;
      for (const Instruction* operand : inst->operands()) operands.push_back(copies.at(operand));
      copies[inst] = Add(*inst, operands);
    }
    return copies.at(member.callee()->root());
  }

  Instruction* Add(const Instruction& like, const std::vector<Instruction*>& operands) {
    Instruction* copy = fused_->Add(like.opcode(), like.shape(), operands, like.attributes(),
                                    like.callees(), like.name());
    copy->set_literal(like.shared_literal());
    return copy;
  }

  void Build() {
    fused_ = last_->parent()->parent()->AddComputation("fused_rows");
    fused_->set_root(Inside(last_));
  }

  Instruction* last_;
  const Purity& purity_;
  Gates& gates_;
  std::vector<Instruction*> members_;
  Computation* fused_ = nullptr;
  std::vector<Instruction*> operands_;
  absl::flat_hash_map<const Instruction*, Instruction*> inside_;
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
