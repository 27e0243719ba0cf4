// Looks through the computations of fusions, and of fusions and calls in them.
#include "optimized/passes/fusion/fusion_to_call.h"

#include "absl/container/flat_hash_map.h"
#include "optimized/passes/fusion/repeated_work.h"

namespace assay {

bool IsMadeWhole(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAllGather:
    case Opcode::kAllReduce:
    case Opcode::kAllToAll:
    case Opcode::kCholesky:
    case Opcode::kCollectiveBroadcast:
    case Opcode::kCollectivePermute:
    case Opcode::kConditional:
    case Opcode::kCustomCall:
    case Opcode::kFft:
    case Opcode::kInfeed:
    case Opcode::kOutfeed:
    case Opcode::kPartitionId:
    case Opcode::kRaggedAllToAll:
    case Opcode::kReduceScatter:
    case Opcode::kReplicaId:
    case Opcode::kRngBitGenerator:
    case Opcode::kRngGetAndUpdateState:
    case Opcode::kScatter:
    case Opcode::kSelectAndScatter:
    case Opcode::kSort:
    case Opcode::kTopK:
    case Opcode::kTriangularSolve:
    case Opcode::kWhile:
      return true;
    default:
      return false;
  }
}

absl::StatusOr<bool> FusionToCall::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kFusion})) return false;
  bool changed = false;
  absl::flat_hash_map<const Computation*, bool> holds_whole;
  // Callees come before callers.
  for (Computation* computation : module.ComputationPostOrder()) {
    bool& holds = holds_whole[computation];
    for (Instruction* inst : computation->InPostOrder()) {
      const bool calls = inst->opcode() == Opcode::kFusion || inst->opcode() == Opcode::kCall;
      const bool repeats = inst->opcode() == Opcode::kFusion && RepeatsWork(*inst->callee());
      const bool whole =
          IsMadeWhole(inst->opcode()) || repeats || (calls && holds_whole[inst->callee()]);
      holds = holds || whole;
      if (!whole || inst->opcode() != Opcode::kFusion) continue;
      Rewrite rewrite(context.gates, "fusion-to-call", inst, /*required=*/true);
      Computation* callee = inst->callee();
      changed |= rewrite.Replace(
          computation->Add(Opcode::kCall, inst->shape(), inst->operands(), {}, {&callee, 1}));
    }
  }
  return changed;
}

}  // namespace assay
