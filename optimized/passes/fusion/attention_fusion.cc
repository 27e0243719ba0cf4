// From a kernel of rows to the dot that makes the rows, and to the one that reads them.
#include "optimized/passes/fusion/attention_fusion.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "optimized/analysis/walks/row_kernels.h"
#include "optimized/passes/fusion/fusion_writer.h"
#include "optimized/passes/util/module_util.h"

namespace assay {
namespace {

bool HoldsDot(const Instruction& inst) {
  if (inst.opcode() == Opcode::kDot) return true;
  return inst.opcode() == Opcode::kFusion &&
         absl::c_any_of(*inst.callee(),
                        [](const Instruction* each) { return each->opcode() == Opcode::kDot; });
}

bool IsReadBy(const Instruction& value, const Instruction* user) {
  return value.parent()->root() != &value && !value.users().empty() &&
         absl::c_all_of(value.users(), [&](const Instruction* each) { return each == user; });
}

// The number of products of both dots.
int64_t ProductsOf(const RowAttention& attention) {
  const auto of = [](const Instruction& dot) {
    int64_t depth = 1;
    for (int64_t d : dot.attributes().Integers(Attr::kLhsContractingDims)) {
      depth *= dot.operand(0)->shape().dimension(d);
    }
    return dot.shape().ElementCount() * depth;
  };
  return of(*attention.scores) + of(*attention.sums);
}

bool MakesRows(const Instruction& inst) {
  return inst.opcode() == Opcode::kFusion && IsPlain(inst) && !FoldsOfRows(*inst.callee()).empty();
}

bool Fuse(Instruction* rows, Gates& gates) {
  if (rows->users().empty()) return false;
  Instruction* sums = rows->users()[0];
  if (!HoldsDot(*sums) || !IsPlain(*sums) || !IsReadBy(*rows, sums)) return false;
  for (Instruction* scores : rows->operands()) {
    if (!HoldsDot(*scores) || !IsPlain(*scores) || !IsReadBy(*scores, rows)) continue;
    FusionWriter writer({scores, rows, sums}, {sums}, "fused_attention");
    const auto attention = AttentionOf(writer.computation());
    const bool pays =
        attention.has_value() &&
        attention->scores->shape().dimensions().back() <= AttentionFusion::kLongestRow &&
        ProductsOf(*attention) <= AttentionFusion::kMostProducts;
    if (!pays || !gates.Allow(DecisionKind::kKernel, "fuse-attention", rows)) {
      writer.Drop();
      continue;
    }
    writer.Replace();
    return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<bool> AttentionFusion::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kDot}) && !module.HasAny({Opcode::kFusion})) return false;
  const Purity purity(module);
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (MakesRows(*inst) && purity.IsPure(*inst)) changed |= Fuse(inst, context.gates);
    }
  }
  if (changed) module.RemoveUnusedComputations().IgnoreError();
  return changed;
}

}  // namespace assay
