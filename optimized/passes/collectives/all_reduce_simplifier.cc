// Follows values to what makes them, to see which are the same on every replica.
#include "optimized/passes/collectives/all_reduce_simplifier.h"

#include <optional>

#include "absl/container/flat_hash_map.h"
#include "optimized/passes/util/module_util.h"
#include "optimized/passes/util/rule_util.h"
#include "spec/ops/collective_groups.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

// Values of one computation that are the same on every replica, as far as that is seen: constants
// and counters, sums over all replicas, and what is computed from such values alone.
class Replication {
 public:
  explicit Replication(const Module& module) : replicas_(module.config().replica_count) {}

  // The size that all groups have; nothing for groups of several sizes, and across partitions.
  std::optional<int64_t> GroupSize(const Instruction& all_reduce) const {
    const auto groups = ProcessGroups(Opcode::kAllReduce, all_reduce.attributes(), replicas_, 1);
    if (!groups.ok() || groups->empty()) return std::nullopt;
    const size_t size = groups->front().size();
    for (const Int64List& group : *groups)
      if (group.size() != size) return std::nullopt;
    return static_cast<int64_t>(size);
  }

  // `order` are all instructions of a computation, operands first.
  void Note(absl::Span<Instruction* const> order) {
    for (const Instruction* inst : order) same_[inst] = Decide(*inst);
  }
  bool IsSame(const Instruction* inst) const {
    const auto at = same_.find(inst);
    return at != same_.end() && at->second;
  }

 private:
  bool Decide(const Instruction& inst) const {
    const Opcode opcode = inst.opcode();
    if (opcode == Opcode::kConstant || opcode == Opcode::kIota) return true;
    if (opcode == Opcode::kAllReduce)
      return inst.shape().IsArray() && GroupSize(inst) == std::optional<int64_t>(replicas_);
    if (KnowsDevices(opcode) || !inst.callees().empty() || inst.operand_count() == 0) return false;
    if (!Info(opcode).Is(kElementwise) && !Info(opcode).Is(kDataMovement)) return false;
    for (const Instruction* operand : inst.operands())
      if (!IsSame(operand)) return false;
    return true;
  }

  int64_t replicas_;
  absl::flat_hash_map<const Instruction*, bool> same_;
};

// x + x is exact, and so is any product of integers as they wrap; three times x is not what three
// rounded sums are.
bool IsExactProduct(ElementType type, int64_t count) { return IsInteger(type) || count <= 2; }

// Gives the result for `count` devices that bring the same; nullptr if that is not known.
Instruction* Local(Instruction* all_reduce, int64_t count) {
  Instruction* value = all_reduce->operand(0);
  const ElementType type = all_reduce->shape().element_type();
  const std::optional<Opcode> combiner = RecognisedCombiner(all_reduce->callee());
  if (!combiner) return nullptr;
  switch (*combiner) {
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kAnd:
    case Opcode::kOr:
      return value;
    case Opcode::kAdd:
      break;
    default:
      return nullptr;
  }
  if (count == 1) return value;
  if (IsInteger(type) && count > MaxInteger(type)) return nullptr;
  if (!(IsInteger(type) || IsFloat(type)) || !IsExactProduct(type, count)) return nullptr;
  Computation* computation = all_reduce->parent();
  if (IsFloat(type)) return computation->Add(Opcode::kAdd, all_reduce->shape(), {value, value});
  return computation->Add(Opcode::kMultiply, all_reduce->shape(),
                          {value, AddSplatInteger(computation, all_reduce->shape(), count)});
}

bool Simplify(Instruction* inst, const Replication& replication, Gates& gates) {
  if (inst->opcode() != Opcode::kAllReduce || inst->operand_count() != 1 || !IsPlain(*inst) ||
      !SameShape(inst, inst->operand(0)))
    return false;
  const std::optional<int64_t> count = replication.GroupSize(*inst);
  if (!count || (*count > 1 && !gates.Holds("all-reduce-of-replicated/same", inst,
                                            replication.IsSame(inst->operand(0)))))
    return false;
  if (!RecognisedCombiner(inst->callee())) return false;
  Rewrite rewrite(gates, "all-reduce-of-replicated", inst);
  if (!rewrite) return false;
  Instruction* local = Local(inst, *count);
  return local != nullptr && rewrite.Replace(local);
}

}  // namespace

absl::StatusOr<bool> AllReduceSimplifier::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kAllReduce}) || module.config().num_partitions != 1) return false;
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    const std::vector<Instruction*> order = computation->PostOrder();
    Replication replication(module);
    replication.Note(order);
    for (Instruction* inst : order) changed |= Simplify(inst, replication, context.gates);
  }
  return changed;
}

}  // namespace assay
